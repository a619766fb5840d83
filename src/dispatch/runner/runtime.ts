// What each runtime is started with, and what its stream comes to. One table; the process of a task reads it.
import type { Usage } from '../messages.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import type { Order, RuntimeName } from './order.ts'

/** One turn of a runtime, read as it goes. */
export interface RuntimeTurn {
  readonly frame: (frame: Record<string, unknown>) => void
  /** Tokens so far: those in the budget's unit, output and uncached input. */
  readonly spent: () => number
  readonly usage: () => Usage
  /** The final frame; nothing while there was none. */
  readonly end: () => TurnEnd | undefined
  /** Messages of the model, and calls of tools, which may have had side effects. */
  readonly counts: () => { readonly turns: number; readonly toolCalls: number }
  /** What a further turn of the same conversation is named by, as soon as that is known. */
  readonly session: () => string | null
  /** What the runtime says of itself before it begins; nothing from one that does not. */
  readonly init: () => RuntimeInit | undefined
  /** For whoever watches the terminal: what there is to say of a frame. */
  readonly line: (frame: Record<string, unknown>) => string | undefined
}

/** In its own words. */
export interface RuntimeInit {
  readonly model: string
  readonly tools: readonly string[]
  readonly servers: readonly { readonly name: string; readonly status: string }[]
}

export interface TurnEnd {
  readonly isError: boolean
  readonly text: string
  /** Only what the runtime itself put into its final frame. */
  readonly structured: unknown
  /** Where the runtime stopped by its own bound. */
  readonly stoppedBy: string | null
  /** What a further turn of the same conversation is named by. */
  readonly session: string | null
  /** Tool calls that the runtime refused for want of permission: no human is there to approve them. */
  readonly denied: readonly Denial[]
}

export interface Denial {
  readonly tool: string
  /** The command, path or address of the call; empty where it has none. */
  readonly target: string
}

export interface StreamingRuntime {
  readonly argv: (order: Order, schemaFile: string) => readonly string[]
  /** A further turn in the same conversation. */
  readonly again: (order: Order, session: string, schemaFile: string) => readonly string[]
  /** `before`: what earlier turns of the same conversation took. */
  readonly turn: (before?: Usage) => RuntimeTurn
}

export const RUNTIMES: Readonly<Record<Exclude<RuntimeName, 'command'>, StreamingRuntime>> = { claude, codex }
