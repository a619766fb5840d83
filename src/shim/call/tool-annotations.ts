// What a server has said of its tools: MCP's hints, as rules ask for them.
import { childrenOf } from '../../canonical/children.ts'
import { TOOLS_ANNOTATED_MAX } from '../../limits.ts'
import { isObject } from '../../plain-object.ts'
import type { Annotations } from '../../policy/types.ts'
import { readObject, readToolList, type ToolDefinition } from './tool-list.ts'

/** MCP's names of the hints. */
const HINTS = {
  readOnlyHint: 'read_only',
  destructiveHint: 'destructive',
  idempotentHint: 'idempotent',
  openWorldHint: 'open_world',
} as const satisfies Record<string, keyof Annotations>

export class ToolAnnotations {
  readonly #byTool = new Map<string, Annotations>()

  of(toolName: string): Annotations | undefined {
    return this.#byTool.get(toolName)
  }

  learn(tool: ToolDefinition): void {
    if (this.#byTool.size < TOOLS_ANNOTATED_MAX) this.#byTool.set(tool.name, annotationsOf(tool))
  }
}

export interface ListedTool {
  readonly name: string
  readonly annotations: Annotations
}

/** The tools in an answer to `tools/list`, whole or only its result; null when there is no list. */
export function listedTools(text: string): readonly ListedTool[] | null {
  const list = readToolList(resultIn(Buffer.from(text)))
  if (list === null || list === 'unreadable') return null
  return list.tools.map((tool) => ({ name: tool.name, annotations: annotationsOf(tool) }))
}

function resultIn(answer: Buffer): Buffer {
  const whole = readObject(answer)
  if (whole === null || !isObject(whole['result'])) return answer
  const result = childrenOf(answer).findLast(({ name }) => name === 'result')
  return result === undefined ? answer : answer.subarray(result.from, result.to)
}

function annotationsOf({ value }: ToolDefinition): Annotations {
  const said = isObject(value['annotations']) ? value['annotations'] : {}
  const hints = Object.entries(HINTS).flatMap(([hint, name]) =>
    typeof said[hint] === 'boolean' ? [[name, said[hint]] as const] : [],
  )
  return Object.fromEntries(hints)
}
