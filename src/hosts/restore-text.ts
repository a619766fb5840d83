// The way back: takes every line that an import wrote out of a configuration, and leaves all else as it is.
import { applyEdits, type ConfigText, type Edit } from './config-text.ts'
import { undoFor } from './import-text.ts'
import { shimLineOf } from './shim-line.ts'
import { type Undo, unwrapEdits } from './wrap.ts'

/**
 * `restored`: out of the shim. `changed`: somebody has put another command there since, which stays. `gone`: is no
 * longer there. `left`: behind a shim, but by no import. `broken`: its line has no command any more.
 */
export type RestoreOutcome = 'restored' | 'changed' | 'gone' | 'left' | 'broken'

export interface RestoredServer {
  readonly at: readonly string[]
  readonly outcome: RestoreOutcome
  readonly undo: Undo | undefined
}

export interface RestoredText {
  readonly text: string
  readonly servers: readonly RestoredServer[]
  readonly edits: readonly Edit[]
}

/** `known`: what imports wrote down of this file. Without it a line is read for what it says. */
export function restoreText(config: ConfigText, known: readonly Undo[], envList: string | undefined): RestoredText {
  const edits: Edit[] = []
  const servers = config.servers.flatMap((server): RestoredServer[] => {
    const { at } = server
    const line = shimLineOf(server.value)
    const undo = undoFor(known, at, typeof line === 'object' ? line.name : undefined)
    if (line === undefined)
      // As it was before: an import that was stopped, or a file that was put back from elsewhere.
      return undo === undefined || server.value['command'] === undo.command.value
        ? []
        : [{ at, outcome: 'changed', undo }]
    if (line === 'no command') return [{ at, outcome: undo === undefined ? 'left' : 'broken', undo }]
    if (!line.isImported && undo === undefined) return [{ at, outcome: 'left', undo }]
    edits.push(...unwrapEdits(config, server, line, undo, envList))
    return [{ at, outcome: 'restored', undo }]
  })
  const gone = known.filter(
    (undo) =>
      !servers.some((server) => server.undo === undo) &&
      !config.servers.some(({ at }) => undoFor([undo], at) !== undefined),
  )
  return {
    text: applyEdits(config.text, edits),
    servers: [...servers, ...gone.map((undo) => ({ at: undo.at, outcome: 'gone' as const, undo }))],
    edits,
  }
}
