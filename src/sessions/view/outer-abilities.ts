// What the viewer’s own terminal can show: its colours, the width of composed characters, links and underlines.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AS_ONE, type ClusterWidths } from '../../cells/clusters.ts'
import { hexColor, parseColor } from '../../cells/color.ts'
import { type Shows, SHOWS_PLAIN } from '../../cells/pen.ts'
import { takeInput } from '../../user-terminal.ts'
import type { Clock } from '../../clock.ts'
import { isErrno } from '../../errors.ts'
import { OUTER_COLORS_MS } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import type { TerminalColors } from '../../wire/payloads.ts'

const COLOR_ASK = '\u001b]10;?\u001b\\\u001b]11;?\u001b\\'
const COLOR_ANSWER =
  /\u001b\](1[01]);rgba?:([\da-f]{1,4}\/[\da-f]{1,4}\/[\da-f]{1,4})(?:\/[\da-f]{1,4})?(?:\u0007|\u001b\\)/gi
/** The beginning of one, at the end of a read; a lone ESC is the key. */
const COLOR_TORN = /\u001b\](?:1(?:[01](?:;(?:[^\u0007\u001b]{0,40}\u001b?)?)?)?)?$/

/** False for terminals that would print what they are asked. */
export const mayAsk = (env: Env): boolean => !/^(?:linux|dumb|)$/.test(env['TERM'] ?? '')

/** What to write to find out. */
export const askColors = (env: Env): string => (mayAsk(env) ? COLOR_ASK : '')

/** Takes the answers out of the terminal’s input: in a drawn view only we asked. */
export class OuterColors {
  #torn = ''
  readonly #found = new Map<string, string>()

  /** Returns what the user typed. */
  take(chunk: Buffer): Buffer {
    const text = this.#torn + chunk.toString('latin1')
    const typed = text.replaceAll(COLOR_ANSWER, (_, code: string, parts: string) => {
      this.#found.set(code, hexColor(parseColor(`rgb:${parts}`) ?? 0))
      return ''
    })
    this.#torn = COLOR_TORN.exec(typed)?.[0] ?? ''
    return Buffer.from(typed.slice(0, typed.length - this.#torn.length), 'latin1')
  }

  /** The start of an answer whose rest did not come: Alt+] looks the same. */
  flush(): Buffer {
    const typed = Buffer.from(this.#torn, 'latin1')
    this.#torn = ''
    return typed
  }

  get isHolding(): boolean {
    return this.#torn !== ''
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
 * neither shown nor taken for typed; the attach that follows takes it.
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

/** Each takes two cells where it is one character, and more where it is not. */
const SAMPLES = { skin: '👋🏽', joined: '👩‍💻', flag: '🇩🇪' } as const
/** Each in a row of its own, so that answers tell themselves apart; not in the first, where an answer looks like a key (F3). */
const FIRST_ROW = 2
const LAST_ROW = FIRST_ROW + Object.keys(SAMPLES).length - 1
const WIDTH_ASK = `${Object.values(SAMPLES)
  .map((sample, n) => `\u001b[${FIRST_ROW + n};1H${sample}\u001b[6n\u001b[2K`)
  .join('')}\u001b[H`
const WIDTH_ANSWER = /\u001b\[([2-4]);(\d{1,3})R/g
/** The beginning of one, at the end of a read; a lone ESC is the key. */
const WIDTH_TORN = /\u001b\[(?:[2-4](?:;\d{0,3})?)?$/
const CELLS = 2
/** What one further part can add. */
const ADDED_MAX = 2

/** What to write to find out, on an empty screen; nothing for terminals that would print it, or have not so many rows. */
export const askWidths = (env: Env, rows: number): string => (mayAsk(env) && rows >= LAST_ROW ? WIDTH_ASK : '')

/** Takes the answers out of what a terminal sends, each once: a second one was typed or comes from a program. */
export class OuterWidths {
  /** Resolves when the terminal has answered; never for one that does not. */
  readonly known: Promise<void>
  #resolve: () => void = () => undefined
  #torn = ''
  readonly #found = new Map<number, number>()

  constructor() {
    this.known = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /** Returns what the user typed. */
  take(chunk: Buffer): Buffer {
    if (this.#hasAll()) return chunk
    const text = this.#torn + chunk.toString('latin1')
    const typed = text.replaceAll(WIDTH_ANSWER, (whole, row: string, column: string) => {
      if (this.#found.has(Number(row))) return whole
      this.#found.set(Number(row), Number(column) - 1)
      return ''
    })
    this.#torn = this.#hasAll() ? '' : (WIDTH_TORN.exec(typed)?.[0] ?? '')
    if (this.#hasAll()) this.#resolve()
    return Buffer.from(typed.slice(0, typed.length - this.#torn.length), 'latin1')
  }

  /** It answers in the order in which it was asked. */
  #hasAll(): boolean {
    return this.#found.has(LAST_ROW)
  }

  get isHolding(): boolean {
    return this.#torn !== ''
  }

  /** The start of an answer whose rest did not come: Alt+[ looks the same. */
  flush(): Buffer {
    const typed = Buffer.from(this.#torn, 'latin1')
    this.#torn = ''
    return typed
  }

  get widths(): ClusterWidths {
    if (!this.#hasAll()) return AS_ONE
    const [skin = 0, joined = 0, flag = 0] = Object.keys(SAMPLES).map((_, n) => this.#added(FIRST_ROW + n))
    return { skin, joined, flag }
  }

  #added(row: number): number {
    return Math.min(ADDED_MAX, Math.max(0, (this.#found.get(row) ?? CELLS) - CELLS))
  }
}

/** Terminals that have both, by TERM or TERM_PROGRAM as they set it. */
const KNOWN =
  /^(?:xterm-kitty|xterm-ghostty|ghostty|foot(?:-.*)?|contour(?:-.*)?|wezterm|WezTerm|iTerm\.app|mintty|rio|vscode)$/
/** Have links, and underlines only where terminfo says so. */
const WITH_LINKS = /^(?:alacritty(?:-.*)?|tmux(?:-.*)?)$/
/** Says `truecolor` and yet prints what it does not know. */
const PLAIN = /^(?:Apple_Terminal|linux|dumb)$/
/** VTE, as in GNOME Terminal: links since 0.50, styles and colours of underlines since 0.52. */
const VTE = { links: 5_000, underlines: 5_200 }

export function terminalShows(env: Env, isSafe: boolean): Shows {
  const names = [env['TERM'], env['TERM_PROGRAM']].flatMap((name) => name ?? [])
  if (names.some((name) => PLAIN.test(name))) return SHOWS_PLAIN
  const isKnown = names.some((name) => KNOWN.test(name)) || env['KITTY_WINDOW_ID'] !== undefined
  const vte = Number(env['VTE_VERSION'] ?? 0)
  const hasColors = /^(?:truecolor|24bit)$/.test(env['COLORTERM'] ?? '')
  return {
    ...SHOWS_PLAIN,
    // Links are dropped with --safe.
    links:
      !isSafe &&
      (isKnown || vte >= VTE.links || names.some((name) => WITH_LINKS.test(name)) || (vte === 0 && hasColors)),
    underlines: isKnown || vte >= VTE.underlines || hasStyledUnderlines(env),
  }
}

/** The names that terminfo's extensions have for it: a style, a colour, or the one that says both. */
const STYLED = ['Smulx', 'Su'].map((name) => `\0${name}\0`)

/** An entry holds the names of its extensions as text. */
function hasStyledUnderlines(env: Env): boolean {
  const entry = readEntry(env)?.toString('latin1') ?? ''
  return STYLED.some((name) => entry.includes(name))
}

function readEntry(env: Env): Buffer | undefined {
  const name = env['TERM'] ?? ''
  if (!/^[A-Za-z0-9][A-Za-z0-9.+_-]*$/.test(name)) return undefined
  const folders = [
    env['TERMINFO'],
    env['HOME'] === undefined ? undefined : join(env['HOME'], '.terminfo'),
    ...(env['TERMINFO_DIRS'] ?? '').split(':'),
    '/etc/terminfo',
    '/lib/terminfo',
    '/usr/share/terminfo',
  ]
  // Filed under the first letter, or on some systems under its number.
  const shelves = [name.slice(0, 1), name.charCodeAt(0).toString(16)]
  for (const folder of folders)
    for (const shelf of folder === undefined || folder === '' ? [] : shelves)
      try {
        return readFileSync(join(folder as string, shelf, name))
      } catch (error) {
        if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) throw error
      }
  return undefined
}
