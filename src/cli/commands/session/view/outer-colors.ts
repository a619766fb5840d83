// The colours of the viewer's own terminal, so that a program in the session can be told of them when it asks.
import { hexColor, parseColor } from '../../../../cells/color.ts'
import type { Clock } from '../../../../clock.ts'
import { OUTER_COLORS_MS } from '../../../../limits.ts'
import type { Env } from '../../../../paths.ts'
import type { TerminalColors } from '../../../../wire/payloads.ts'
import { takeInput } from '../../../stdin.ts'

const ASK = '\u001b]10;?\u001b\\\u001b]11;?\u001b\\'
const ANSWER =
  /\u001b\](1[01]);rgba?:([\da-f]{1,4}\/[\da-f]{1,4}\/[\da-f]{1,4})(?:\/[\da-f]{1,4})?(?:\u0007|\u001b\\)/gi
/** The beginning of one, at the end of a read; a lone ESC is the key. */
const TORN = /\u001b\](?:1(?:[01](?:;(?:[^\u0007\u001b]{0,40}\u001b?)?)?)?)?$/

/** False for terminals that would print what they are asked. */
export const mayAsk = (env: Env): boolean => !/^(?:linux|dumb|)$/.test(env['TERM'] ?? '')

/** What to write to find out. */
export const askColors = (env: Env): string => (mayAsk(env) ? ASK : '')

/** Takes the answers out of what a terminal sends: nobody else in a drawn view has asked for them. */
export class OuterColors {
  #torn = ''
  readonly #found = new Map<string, string>()

  /** What a person typed. */
  take(chunk: Buffer): Buffer {
    const text = this.#torn + chunk.toString('latin1')
    const typed = text.replaceAll(ANSWER, (_, code: string, parts: string) => {
      this.#found.set(code, hexColor(parseColor(`rgb:${parts}`) ?? 0))
      return ''
    })
    this.#torn = TORN.exec(typed)?.[0] ?? ''
    return Buffer.from(typed.slice(0, typed.length - this.#torn.length), 'latin1')
  }

  /** Both, as soon as both are known. */
  get colors(): TerminalColors | undefined {
    const foreground = this.#found.get('10')
    const background = this.#found.get('11')
    return foreground === undefined || background === undefined ? undefined : { foreground, background }
  }
}

/**
 * Before a session is started: programs ask first thing. The terminal is left raw, so that an answer that comes late is
 * neither shown nor taken for typed; whoever attaches takes it from there.
 */
export async function colorsOf(
  { stdin, stdout }: { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream },
  env: Env,
  clock: Clock,
): Promise<TerminalColors | undefined> {
  const ask = askColors(env)
  if (ask === '') return undefined
  const outer = new OuterColors()
  const typed: Buffer[] = []
  stdin.setRawMode(true)
  await new Promise<void>((resolve) => {
    const timer = clock.after(OUTER_COLORS_MS, () => finish())
    const onData = (chunk: Buffer): void => {
      typed.push(outer.take(chunk))
      if (outer.colors !== undefined) finish()
    }
    const finish = (): void => {
      timer.cancel()
      release()
      resolve()
    }
    const release = takeInput(stdin, onData, () => finish())
    stdout.write(ask)
  })
  // Typed ahead: for the session.
  const ahead = Buffer.concat(typed)
  if (ahead.length > 0 && !stdin.readableEnded) stdin.unshift(ahead)
  return outer.colors
}
