// What the process of a task is told, and what it leaves: files in a folder of the assignment, for the user alone.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readJsonIfThere, writePrivate } from '../json-file.ts'
import { parseResult, type ReplySchema, type TaskResult, type Usage } from '../messages.ts'

export type RuntimeName = 'claude' | 'codex' | 'command'

export interface Order {
  readonly v: 1
  readonly taskId: string
  readonly attempt: number
  readonly runtime: RuntimeName
  /** The command line that the worker was started with. */
  readonly command: readonly string[]
  /** Where the worker was started: what a relative command is meant from. */
  readonly from: string
  /** The brief with what the agent has to know of the contract. */
  readonly prompt: string
  readonly replySchema: ReplySchema
  /** Of the reply: the sender's for `json`, ours for `structured`. */
  readonly jsonSchema: Readonly<Record<string, unknown>> | null
  readonly tokenBudget: number | null
  /** Servers that the runtime itself must have reached, where it says which it has. */
  readonly requiredMcp: readonly string[]
  readonly deadlineMs: number | null
  /** How long a turn that was stopped at budget or turns waits for somebody to let it go on; null ends it at once. */
  readonly resumeMs: number | null
  /** A worktree of its own: its agent may commit there. */
  readonly hasWorktree: boolean
  /** What an earlier attempt has said and taken, and this one continues. */
  readonly conversation: { readonly session: string; readonly usage: Usage } | null
  /** A `traceparent`: what the agent starts may say what it belongs to. */
  readonly trace: string | null
}

const at = (dir: string, name: string): string => join(dir, name)

export const orderPath = (dir: string): string => at(dir, 'order.json')
export const briefPath = (dir: string): string => at(dir, 'brief.txt')
/** Written by a command of no known runtime. */
export const resultPath = (dir: string): string => at(dir, 'result.json')
export const framesPath = (dir: string): string => at(dir, 'frames.jsonl')
export const schemaPath = (dir: string): string => at(dir, 'schema.json')
/** What the runtime said of itself when it began. */
export const initPath = (dir: string): string => at(dir, 'init.json')
/** There while the task was stopped and could go on. */
export const stoppedPath = (dir: string): string => at(dir, 'stopped.json')
/** A reply that is too large for a row. */
export const replyPath = (dir: string): string => at(dir, 'reply')
const outcomePath = (dir: string): string => at(dir, 'outcome.json')

export function writeOrder(dir: string, order: Order): void {
  writePrivate(briefPath(dir), order.prompt)
  if (order.jsonSchema !== null) writePrivate(schemaPath(dir), JSON.stringify(order.jsonSchema))
  writePrivate(orderPath(dir), JSON.stringify(order))
}

export function readOrder(dir: string): Order | undefined {
  return readJsonIfThere(orderPath(dir)) as Order | undefined
}

export const dropOutcome = (dir: string): void => rmSync(outcomePath(dir), { force: true })

export const writeOutcome = (dir: string, result: TaskResult): void =>
  writePrivate(outcomePath(dir), JSON.stringify(result))

/** Nothing where the process of the task ended before it could say anything. */
export function readOutcome(dir: string): TaskResult | undefined {
  const raw = readJsonIfThere(outcomePath(dir))
  return raw === undefined ? undefined : parseResult(raw)
}
