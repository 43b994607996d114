/** One session of a made-up history: a conversation's first segment, or something that hangs on one. */
export type Session = {
  readonly id: string
  readonly title?: string
  readonly source: string
  /** When it began, in seconds since 1970. */
  readonly at: number
  readonly parent?: string
  readonly how?: 'segment' | 'delegate' | 'branch'
  /** Why it ended: 'compression' where a segment follows. */
  readonly ended?: string
  readonly said: readonly string[]
}

const day = 86_400

/** The day that the made-up history ends with. */
export const lastDay = 1_795_500_000

/** A conversation that stands for itself. */
export const alone = (id: string, title: string | undefined, days: number, ...said: string[]): Session => ({
  id, ...(title !== undefined && { title }), source: 'desktop', at: lastDay - days * day, said,
})

const part = (how: 'segment' | 'delegate' | 'branch', id: string, parent: string, title: string, days: number, ...said: string[]): Session => ({
  ...alone(id, title, days, ...said), parent, how, source: how === 'delegate' ? 'subagent' : 'desktop',
})

const compressed = (session: Session): Session => ({ ...session, ended: 'compression' })

/** The conversation that the tests delete: two segments and three delegates go, a branch stays. */
export const kyoto = { root: 'kyoto-1', ids: ['kyoto-1', 'kyoto-2', 'kyoto-food', 'kyoto-rail', 'kyoto-rail-fares'], branch: 'nara', title: 'Kyōto in autumn 🍁' }

export const titles = {
  kyoto: 'Kyōto in autumn 🍁',
  arabic: 'رسالة إلى مدير المدرسة',
  long: `Why does the build fail only on Thursdays when the moon is full and ${'the cache directory is nested '.repeat(8)}very deep`,
  backup: 'Backup script for the NAS',
  tax: 'Steuererklärung 2025',
  borscht: 'Рецепти на вихідні: борщ без м’яса',
}

/** A person's history: long and short, in several languages and directions, with and without a title. */
export function history(): Session[] {
  return [
    compressed(alone('kyoto-1', titles.kyoto, 20, 'Plan five days in Kyōto in November, with bamboo and few crowds.', 'Day one: Arashiyama before eight. Day two: Philosopher’s Path …')),
    part('segment', 'kyoto-2', 'kyoto-1', titles.kyoto, 12, 'Now with the rail pass, and a day in Nara.', 'The pass pays from the third long ride on. Here is the plan again …'),
    part('delegate', 'kyoto-rail', 'kyoto-2', 'Compare the rail passes', 12, 'Compare the rail passes for five days.', 'The regional pass is cheaper.'),
    part('delegate', 'kyoto-rail-fares', 'kyoto-rail', 'Fetch single fares', 12, 'Fetch single fares.', 'Done: eleven fares.'),
    part('delegate', 'kyoto-food', 'kyoto-2', 'Vegetarian restaurants near Gion', 12, 'Find vegetarian restaurants near Gion.', 'Seven of them, two with a garden.'),
    part('branch', 'nara', 'kyoto-2', 'Nara with the children?', 2, 'What of Nara is fun for children of four and seven?', 'The deer, and the bamboo path behind the shrine.'),
    alone('arabic', titles.arabic, 9, 'ساعدني في كتابة رسالة إلى مدير المدرسة بخصوص غياب ابنتي يوم الخميس.', 'السيد المدير المحترم، أود إبلاغكم بأن ابنتي لن تحضر يوم الخميس.'),
    alone('long', titles.long, 30, 'It fails again.', 'The path is longer than the file system takes.'),
    compressed(alone('backup-1', titles.backup, 45, 'Write me a script that copies /srv to the NAS every night.', 'Here is one with rsync and hard links.')),
    part('segment', 'backup-2', 'backup-1', titles.backup, 40, 'It stops when the NAS sleeps.', 'I added a wake-up packet and three tries.'),
    alone('tax', titles.tax, 1, 'Welche Belege brauche ich für das häusliche Arbeitszimmer?', 'Mietvertrag, Grundriss, Nebenkosten und die Rechnungen.'),
    alone('borscht', titles.borscht, 60, 'Хочу зварити борщ без м’яса на шістьох.', 'Буряк печи цілим, квасолю замочи звечора.'),
    alone('untitled', undefined, 75, 'Is this thing on?', 'It is.'),
    alone('wedding', 'Svatba Žofie – rozpočet a hosté', 80, 'Kolik stojí svatba pro šedesát hostů?', 'Počítej zhruba se sto padesáti tisíci.'),
    alone('piano', 'Practice plan: Bach, two-part inventions', 90, 'Plan eight weeks for me.', 'Week one: hands apart …'),
  ]
}

/** So many conversations, `many-1` and so on, the newest first. */
export const many = (count: number): Session[] => Array.from({ length: count }, (_, i) => alone(`many-${i + 1}`, `Conversation ${i + 1}`, i / 24, `bamboo ${i + 1}`))

/** A family of so many sessions under one root, three deep. */
export function bigFamily(count: number): Session[] {
  const children = Array.from({ length: count - 1 }, (_, i) => {
    const parent = i < 20 ? 'big' : `big-${i % 20}`
    return part('delegate', `big-${i}`, parent, `Task ${i + 1}: read what the others have written`, 3, `Do task ${i + 1}.`, 'Done.')
  })
  return [alone('big', 'Read the whole archive', 3, 'Read the whole archive, with helpers.', 'I have started them.'), ...children]
}
