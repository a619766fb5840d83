// heimdall man: the manual page.
import type { Run } from '../command.ts'
import { manPage } from '../render/man.ts'
import type { man } from '../table/core.ts'
import { ABOUT, COMMANDS } from '../table.ts'
import { VERSION } from '../version.ts'

export const run: Run<typeof man> = () => {
  const page = manPage(COMMANDS, ABOUT['heimdall'] ?? '', VERSION)
  return Promise.resolve({ data: { page }, text: page })
}
