// What a tool is: a row of data from which its schema is made, and a function. Rows are short because every agent reads all of them.
import type { AgentActor } from '../coordination/change.ts'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import type { Desk } from './desk.ts'

const TYPES = {
  text: { type: 'string' },
  texts: { type: 'array', items: { type: 'string' } },
  count: { type: 'integer' },
  flag: { type: 'boolean' },
} as const

type ArgType = keyof typeof TYPES
type Args = Readonly<Record<string, ArgType>>

interface ArgValues {
  readonly text: string
  readonly texts: readonly string[]
  readonly count: number
  readonly flag: boolean
}

type Input<A extends Args, R extends keyof A> = { readonly [K in R]: ArgValues[A[K]] } & {
  readonly [K in Exclude<keyof A, R>]?: ArgValues[A[K]] | undefined
}

export type Data = Readonly<Record<string, unknown>>

/** `refused` is an answer that the agent can act on; it is marked as an error in the result. */
export interface ToolOutcome {
  readonly data: Data
  readonly refused?: boolean
}

/** Who the call is attributed to; every result names it. */
export interface ToolCaller {
  readonly desk: Desk
  /** The name that the client gave itself. */
  readonly client: string
  readonly haid: string
  readonly agentId: string
  /** The caller as the claim engine knows it. */
  readonly actor: AgentActor
}

export interface Tool {
  readonly name: string
  readonly about: string
  readonly readOnly: boolean
  readonly args: Args
  readonly required: readonly string[]
  run(caller: ToolCaller, input: Readonly<Record<string, unknown>>): ToolOutcome | Promise<ToolOutcome>
}

/** Every tool takes `client_identity` besides its own arguments. */
export function tool<const A extends Args, const R extends keyof A & string = never>(row: {
  readonly name: string
  readonly about: string
  readonly readOnly?: true
  readonly args: A
  readonly required?: readonly R[]
  run(caller: ToolCaller, input: Input<A, R>): ToolOutcome | Promise<ToolOutcome>
}): Tool {
  return {
    name: row.name,
    about: row.about,
    readOnly: row.readOnly === true,
    args: { ...row.args, client_identity: 'text' },
    required: row.required ?? [],
    // The input was checked against this very row before it gets here.
    run: (caller, input) => row.run(caller, input as Input<A, R>),
  }
}

export interface ToolListing {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown }
  readonly annotations?: { readonly readOnlyHint: true }
}

/** The tool as `tools/list` shows it. Bounds and surplus arguments are refused by `checkInput`, with words, instead of being listed. */
export function listing(tool: Tool): ToolListing {
  return {
    name: tool.name,
    description: tool.about,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(tool.args).map(([name, type]) => [name, TYPES[type]])),
      ...(tool.required.length === 0 ? {} : { required: tool.required }),
    },
    ...(tool.readOnly ? { annotations: { readOnlyHint: true } } : {}),
  }
}

/** Refuses what the schema does not allow, all of it in one message, so that the agent can correct itself in one step. */
export function checkInput(tool: Tool, input: Readonly<Record<string, unknown>>): void {
  const problems = [
    ...tool.required.filter((name) => input[name] === undefined).map((name) => `${name} is missing`),
    ...Object.entries(input).flatMap(([name, value]) => {
      const type = Object.hasOwn(tool.args, name) ? tool.args[name] : undefined
      if (type === undefined) return [`${printable(name)} is not an argument`]
      return value === undefined || isOfType(type, value) ? [] : [`${name} must be ${WANTED[type]}`]
    }),
  ]
  if (problems.length === 0) return
  throw new HeimdallError('MCP_ARGUMENTS_INVALID', `${tool.name}: ${problems.slice(0, 8).join('; ')}`, {
    hint: `arguments: ${Object.keys(tool.args)
      .map((name) => (tool.required.includes(name) ? `${name} (required)` : name))
      .join(', ')}`,
  })
}

const WANTED: Readonly<Record<ArgType, string>> = {
  text: 'a string that is not blank',
  texts: 'an array of at least one string, none of them blank',
  count: 'a whole number from 1 up',
  flag: 'true or false',
}

function isOfType(type: ArgType, value: unknown): boolean {
  switch (type) {
    case 'text':
      return isText(value)
    case 'texts':
      return Array.isArray(value) && value.length > 0 && value.every(isText)
    case 'count':
      return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
    case 'flag':
      return typeof value === 'boolean'
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== ''
}
