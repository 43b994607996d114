/** For how many days a delete that is kept can be taken back. */
export const keepDays = 30
