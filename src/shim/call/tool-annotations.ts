// What a server has said of its tools in its answers to `tools/list`.
import { CALLS_IN_FLIGHT_MAX, TOOLS_ANNOTATED_MAX } from '../../limits.ts'
import type { Annotations } from '../../policy/types.ts'
import type { IdKey } from '../messages/message-id.ts'

/** MCP's names of the hints. */
const HINTS = {
  readOnlyHint: 'read_only',
  destructiveHint: 'destructive',
  idempotentHint: 'idempotent',
  openWorldHint: 'open_world',
} as const satisfies Record<string, keyof Annotations>

export class ToolAnnotations {
  /** Ids under which a list was asked for, and nothing else since. */
  readonly #asked = new Set<IdKey>()
  readonly #byTool = new Map<string, Annotations>()

  of(toolName: string): Annotations | undefined {
    return this.#byTool.get(toolName)
  }

  /** A request has gone to the server. An id that is in use for something else as well proves nothing. */
  requested(key: IdKey, method: string, isInUse: boolean): void {
    if (method === 'tools/list' && !isInUse && this.#asked.size < CALLS_IN_FLIGHT_MAX) this.#asked.add(key)
    else this.#asked.delete(key)
  }

  /** Whether an answer under this id is the list that was asked for; asked once, because only the first answer is. */
  isListUnder(key: IdKey): boolean {
    return this.#asked.size > 0 && this.#asked.delete(key)
  }

  learn(result: Buffer): void {
    const list = parsed(result)
    const tools = isObject(list) && Array.isArray(list['tools']) ? (list['tools'] as unknown[]) : []
    for (const tool of tools) this.#learn(tool)
  }

  #learn(tool: unknown): void {
    if (!isObject(tool) || typeof tool['name'] !== 'string') return
    if (this.#byTool.size >= TOOLS_ANNOTATED_MAX) return
    const said = isObject(tool['annotations']) ? tool['annotations'] : {}
    const hints = Object.entries(HINTS).flatMap(([hint, name]) =>
      typeof said[hint] === 'boolean' ? [[name, said[hint]] as const] : [],
    )
    this.#byTool.set(tool['name'], Object.fromEntries(hints))
  }
}

/** What comes from the server is looked at less closely than JSON wants it; then nothing is known. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
