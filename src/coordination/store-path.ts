// Where a repository's store lies; for those, too, who do without opening it.
import { join } from 'node:path'
import type { Project } from '../paths.ts'

export const storePath = ({ coordinationDir }: Pick<Project, 'coordinationDir'>): string =>
  join(coordinationDir, 'coordination.db')
