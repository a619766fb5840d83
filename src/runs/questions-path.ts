// Where the questions of a run to a person lie. Apart from what reads them: most runs have asked nothing.
import { join } from 'node:path'

export const questionsPath = (folder: string): string => join(folder, 'approvals.db')
