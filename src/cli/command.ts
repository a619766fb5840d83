// A command: its spec, from which help, parsing, completion, man page and docs are made, and the function that runs it.
import type { Clock } from '../clock.ts'
import type { Config, ConfigSources } from '../config.ts'
import type { Env } from '../paths.ts'
import type { Style } from './render/style.ts'

export interface FlagSpec {
  /**
   * Text unless given; without `value` and `choices` the flag is a switch. `duration` takes `90s`, `15m`, `2h`, `1d` or a
   * sum of them, and arrives in milliseconds.
   */
  readonly type?: 'integer' | 'duration'
  /** The largest whole number that it takes. */
  readonly most?: number
  /** `0s` is a valid duration. */
  readonly mayBeZero?: true
  readonly help: string
  /** Placeholder of the value in help: `--id ID`. */
  readonly value?: string
  readonly short?: string
  readonly choices?: readonly string[]
  readonly default?: string | number | boolean
  readonly multiple?: true
  readonly required?: true
}

export interface ArgSpec {
  readonly name: string
  readonly help: string
  readonly optional?: true
  /** Takes all that is left; only the last one may. */
  readonly variadic?: true
}

export interface CommandSpec {
  /** Full command lines: our name first if there is one, then the names of a seed's launcher for the same command. */
  readonly names: readonly [string, ...string[]]
  readonly summary: string
  readonly about?: string
  readonly args?: readonly ArgSpec[]
  /** Changes what agents share without acting as an agent of the ledger: refused for a revoked agent before it runs. */
  readonly changes?: true
  /** Unknown flags are arguments: `fact set offset -5`. */
  readonly literal?: true
  /** Placeholder for what follows `--`, where the command takes a command line. */
  readonly rest?: string
  /** The first argument begins the command line too, as in `docker run`: everything after it belongs to it. */
  readonly restFromFirst?: true
  readonly flags?: Flags
  /** Command lines, and what each does; at least one. */
  readonly examples: Readonly<Record<string, string>>
  /** What `--json` prints, where it is not one envelope for the whole answer. */
  readonly json?: string
  /** Fields of `data` in the `--json` envelope, explained where the name is not enough. */
  readonly output: string
  /** Listed by `help --all` only. */
  readonly hidden?: true
}

/** Keeps the literal types of a row, from which the types of its input are derived. */
export function spec<const S extends CommandSpec>(row: S): S {
  return row
}

type ValueOf<F extends FlagSpec> = F extends { readonly type: string }
  ? number
  : F extends { readonly choices: readonly (infer C)[] }
    ? C
    : F extends { readonly value: string }
      ? string
      : boolean

type FlagValue<F extends FlagSpec> = F extends { readonly multiple: true }
  ? readonly ValueOf<F>[]
  : F extends { readonly required: true } | { readonly default: string | number | boolean }
    ? ValueOf<F>
    : ValueOf<F> | undefined

type ArgValue<A extends ArgSpec> = A extends { readonly variadic: true }
  ? readonly string[]
  : A extends { readonly optional: true }
    ? string | undefined
    : string

type Flags = Readonly<Record<string, FlagSpec>>
type Nothing = Readonly<Record<string, never>>

interface TypedInput<F, A> {
  readonly flags: F extends Flags ? { readonly [K in keyof F]: FlagValue<F[K]> } : Nothing
  readonly args: A extends readonly ArgSpec[] ? { readonly [K in A[number] as K['name']]: ArgValue<K> } : Nothing
  /** What followed `--`. */
  readonly rest: readonly string[]
}

export type InputOf<S extends CommandSpec> = TypedInput<
  S extends { readonly flags: infer F } ? F : undefined,
  S extends { readonly args: infer A } ? A : undefined
>

/** Everything that a command uses of its process. */
export interface Context {
  /** Throws FOLDER_GONE where the working folder no longer exists. */
  readonly cwd: string
  readonly env: Env
  readonly clock: Clock
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  /** The name it was called by, for instance `heimdall claim check` or `heimdall-claim check`. */
  readonly calledAs: string
  /** Called by a seed's name: the seed's output and exit codes win. */
  readonly isSeedName: boolean
  readonly json: boolean
  /** `--config`. */
  readonly configFile: string | undefined
  readonly style: Style
  /** One line on stderr; not data. */
  readonly note: (line: string) => void
  /** Notes that are warnings; listed in JSON output. */
  readonly warnings: readonly string[]
  /** Resolves a path against the working folder. */
  resolve(path: string): string
  /** The same call in another folder. */
  in(folder: string): Context
  /** The effective settings; settings of an untrusted project file are ignored, with one warning. */
  settings(flags?: ConfigSources['flags']): Promise<Config>
}

export interface Answer {
  /** `data` of the envelope with `--json`. */
  readonly data: unknown
  /** Printed without `--json`, without the last newline; empty prints nothing. */
  readonly text: string
  /** Where it is not 0; an expected outcome such as a held claim is an answer, not an error. */
  readonly exit?: number
  /** Printed with `--json` in place of our envelope when the command was called by a seed's name. */
  readonly seedJson?: unknown
  /** The command has written its own output already. */
  readonly streamed?: true
}

export type Run<S extends CommandSpec> = (context: Context, input: InputOf<S>) => Promise<Answer>

export interface Input {
  readonly flags: Readonly<Record<string, unknown>>
  readonly args: Readonly<Record<string, unknown>>
  readonly rest: readonly string[]
}

export interface Command {
  readonly spec: CommandSpec
  // A method, so that a function with the narrower input of its own spec is assignable.
  run(this: void, context: Context, input: never): Promise<Answer>
}

interface Declared<F, A> extends Omit<CommandSpec, 'flags' | 'args'> {
  readonly flags?: F
  readonly args?: A
  readonly run: (context: Context, input: TypedInput<F, A>) => Promise<Answer>
}

/** A command as the files in `commands/` declare it: its spec and its function. */
export function command<
  const F extends Flags | undefined = undefined,
  const A extends readonly ArgSpec[] | undefined = undefined,
>({ run, ...row }: Declared<F, A>): Command {
  return { spec: row as CommandSpec, run }
}

/** A flag without a value. */
export const isSwitch = ({ type, value, choices }: FlagSpec): boolean => (type ?? value ?? choices) === undefined
