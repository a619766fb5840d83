// The list by which a host hands a server chosen variables: what the shim needs in it, and what must not stay in it without the shim.
import { type Edit, type ListAt, type ServerAt } from './config-text.ts'

/** Who the agent is, what governs it, and its secrets: nobody's business but the shim's. */
const OWN = [
  'SUB_RUN_ID SUB_AGENT_ID SUB_ENV SUB_CLIENT SUB_PRINCIPAL SUB_WORKLOAD',
  'SUB_POLICY_JSON SUB_POLICY_FILE SUB_SECRET_BINDINGS SUB_SECRET_BINDINGS_FILE SUB_SECRETS_PATH',
  'HEIMDALL_SESSION_ID HEIMDALL_SESSION_KEY HEIMDALL_AGENT_ID HEIMDALL_HAID HEIMDALL_SECRET BB_AGENT',
  'HEIMDALL_ROLE HEIMDALL_RUN_DIR HEIMDALL_PLANNING_DIR',
].flatMap((names) => names.split(' '))

/** All that the shim has to know and a host with a list would not hand on; where records lie is anybody's to know. */
export const CARRIED: readonly string[] = [...OWN, 'XDG_STATE_HOME', 'XDG_CONFIG_HOME']

/** What became of the list: its text before an import, null where there was none; and the names that go with the shim. */
export interface ListUndo {
  readonly text: string | null
  readonly added: readonly string[]
}

/** What the shim has to know and the host's list does not have. */
export function missingIn(server: ServerAt, envList: string): string[] {
  const listed = entriesOf(server, envList)
  return CARRIED.filter((variable) => !listed.includes(variable))
}

/**
 * What a list holds of ours by itself, without a record: an import leaves nothing out, so a list with every name was
 * written by one; in any other list only the names count that nobody else uses.
 */
export function foundIn({ text }: { readonly text: string }, server: ServerAt, envList: string): ListUndo {
  const entries = entriesOf(server, envList)
  const isOfImport = CARRIED.every((name) => entries.includes(name))
  const added = (isOfImport ? CARRIED : OWN).filter((name) => entries.includes(name))
  const list = server.list(envList)
  const isMade = list === undefined || (isOfImport && entries.length === CARRIED.length)
  return { text: isMade ? null : text.slice(list.start, list.end), added }
}

/** Names of ours that are in the list now. */
export function listedOf({ added }: ListUndo, server: ServerAt, envList: string): string[] {
  const entries = entriesOf(server, envList)
  return added.filter((name) => entries.includes(name))
}

/** Takes these names out; and the whole list where it is ours. */
export function unlistEdits(server: ServerAt, key: string, { text, added }: ListUndo): Edit[] {
  const list = server.list(key)
  if (list === undefined) return []
  const isOurs = entriesOf(server, key).map((entry) => typeof entry === 'string' && added.includes(entry))
  if (text === null && isOurs.every(Boolean)) return [server.remove(key)]
  const front = isOurs.includes(false) ? isOurs.indexOf(false) : isOurs.length
  const later = isOurs.flatMap((ours, index) => (ours && index > front ? [index] : []))
  return [
    ...(front === 0 ? [] : [outOfFront(list, front)]),
    ...later.map((index) => ({
      start: list.elements[index - 1]?.end ?? 0,
      end: list.elements[index]?.end ?? 0,
      text: '',
    })),
  ]
}

export function outOfFront(list: ListAt, count: number): Edit {
  const [first] = list.elements
  const end = list.elements[count]?.start ?? list.elements[count - 1]?.end
  return { start: first?.start ?? list.start, end: end ?? list.start, text: '' }
}

function entriesOf(server: ServerAt, key: string): readonly unknown[] {
  const entries = server.value[key]
  return Array.isArray(entries) ? entries : []
}
