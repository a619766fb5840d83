// The way back: takes every line that an import wrote out of a configuration, and leaves all else as it is.
import { applyEdits, type ConfigText, type Edit, type ServerAt } from './config-text.ts'
import { foundIn, listedOf, unlistEdits } from './env-list.ts'
import { undoFor } from './import-text.ts'
import { isForeignShim, shimLineOf } from './shim-line.ts'
import { type Undo, unwrapEdits } from './wrap.ts'

/**
 * `restored`: out of the shim. `changed`: somebody has put another command there since, which stays. `gone`: is no
 * longer there. `left`: behind a shim, but by no import. `broken`: its line has no command any more. `unlisted`: was
 * out of the shim already, but got variables that are the shim's.
 */
export type RestoreOutcome = 'restored' | 'changed' | 'gone' | 'left' | 'broken' | 'unlisted'

export interface RestoredServer {
  readonly at: readonly string[]
  readonly outcome: RestoreOutcome
  readonly undo: Undo | undefined
  /** Variables of ours that its list loses. */
  readonly unlisted: readonly string[]
}

export interface RestoredText {
  readonly text: string
  readonly servers: readonly RestoredServer[]
  readonly edits: readonly Edit[]
}

/** `known`: what imports wrote down of this file. Without it a line is read for what it says. */
export function restoreText(config: ConfigText, known: readonly Undo[], envList: string | undefined): RestoredText {
  const edits: Edit[] = []
  /** Without the shim nobody is handed what is the shim's, whoever took the server out. */
  const unlist = (server: ServerAt, undo: Undo | undefined): readonly string[] => {
    if (envList === undefined) return []
    const list = undo?.envList ?? foundIn(config, server, envList)
    const names = listedOf(list, server, envList)
    if (names.length > 0) edits.push(...unlistEdits(server, envList, list))
    return names
  }
  const servers = config.servers.flatMap((server): RestoredServer[] => {
    const { at, value } = server
    const line = shimLineOf(value)
    const undo = undoFor(known, at, typeof line === 'object' ? line.name : undefined)
    if (line === undefined) {
      const unlisted = isForeignShim(value) ? [] : unlist(server, undo)
      // As it was before: an import that was stopped, or a file that was put back from elsewhere.
      const isSame = undo === undefined || value['command'] === undo.command.value
      if (isSame && unlisted.length === 0) return []
      return [{ at, outcome: isSame ? 'unlisted' : 'changed', undo, unlisted }]
    }
    if (line === 'no command') return [{ at, outcome: undo === undefined ? 'left' : 'broken', undo, unlisted: [] }]
    if (!line.isImported && undo === undefined) return [{ at, outcome: 'left', undo, unlisted: [] }]
    edits.push(...unwrapEdits(config, server, line, undo))
    return [{ at, outcome: 'restored', undo, unlisted: unlist(server, undo) }]
  })
  const gone = known.filter(
    (undo) =>
      !servers.some((server) => server.undo === undo) &&
      !config.servers.some(({ at }) => undoFor([undo], at) !== undefined),
  )
  return {
    text: applyEdits(config.text, edits),
    servers: [...servers, ...gone.map((undo) => ({ at: undo.at, outcome: 'gone' as const, undo, unlisted: [] }))],
    edits,
  }
}
