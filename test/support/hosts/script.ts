// What a scripted model is asked and what it says, in words that are no wire format's: a dialogue is written once and played to every host.

export type HostName = 'claude' | 'codex' | 'gemini'

/** Tokens of one reply. What was read from the cache is not in `input`; `reasoning` is part of `output`. */
export interface Tokens {
  readonly input: number
  readonly cached: number
  /** Written to the cache; only Anthropic's format tells it. */
  readonly cacheWrite: number
  readonly output: number
  readonly reasoning: number
}

export type Part =
  | { readonly text: string }
  /** A tool by the host's own name for it. */
  | { readonly call: string; readonly input: Readonly<Record<string, unknown>> }
  /** A tool of an MCP server; each host names it in its own way. */
  | { readonly server: string; readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  /** `asks`: Codex asks a person only for what the model wants to do outside of its sandbox. */
  | { readonly shell: string; readonly asks?: boolean }
  | { readonly write: string; readonly content: string }
  /** Work for a subagent, where the host has them. */
  | { readonly subagent: string }

export interface Reply {
  readonly parts: readonly Part[]
  readonly tokens: Tokens
}

export interface Turn {
  readonly from: 'user' | 'model' | 'tool'
  readonly text: string
  /** Of a tool's answer, as far as the format says so. */
  readonly isError?: boolean
}

/** A request to the model. */
export interface Asked {
  readonly host: HostName
  readonly model: string
  readonly instructions: string
  readonly turns: readonly Turn[]
  /** Names of tools that are offered. */
  readonly tools: readonly string[]
  /** The answer has to be JSON: hosts ask for titles this way. */
  readonly wantsJson: boolean
  readonly body: unknown
}

/** Answers by what is asked and never by how often: subagents and titles come in any order. Nothing: this is not its talk. */
export type Script = (asked: Asked) => Reply | undefined

export const tokens = (some: Partial<Tokens>): Tokens => ({
  input: 0,
  cached: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
  ...some,
})

export const say = (text: string, cost: Partial<Tokens> = { input: 1, output: 1 }): Reply => ({
  parts: [{ text }],
  tokens: tokens(cost),
})

export const act = (part: Part, cost: Partial<Tokens> = { input: 1, output: 1 }): Reply => ({
  parts: [part],
  tokens: tokens(cost),
})

/** The talk that begins with a prompt that has these words: its first reply, the one after the answer to that, and so on. Past the last one it is repeated. */
export function dialogue(words: string, replies: readonly Reply[]): Script {
  return ({ turns }) => {
    const start = turns.findLastIndex(({ from, text }) => from === 'user' && text.includes(words))
    if (start === -1) return undefined
    return replies[Math.min(modelTurns(turns.slice(start)), replies.length - 1)]
  }
}

/** What follows each other from the model is one turn: formats cut one reply into several items. */
const modelTurns = (turns: readonly Turn[]): number =>
  turns.filter(({ from }, at) => from === 'model' && turns[at - 1]?.from !== 'model').length

/** The first that has something to say. */
export const oneOf =
  (...scripts: readonly Script[]): Script =>
  (asked) => {
    for (const script of scripts) {
      const reply = script(asked)
      if (reply !== undefined) return reply
    }
    return undefined
  }
