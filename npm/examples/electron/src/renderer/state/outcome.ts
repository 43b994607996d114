import type { Deleted, DeletedOne } from '../types.ts'

/** Whether the rows of what was to be deleted are gone, whatever became of files: by this delete, with another of many, or before it. */
export const areRowsGone = (result: Deleted | DeletedOne) =>
  result.deleted_ids !== undefined || ('taken_by' in result && result.taken_by !== undefined) || (result.ok && result.existed === false)
