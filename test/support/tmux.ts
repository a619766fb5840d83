// A pane of tmux: a terminal that is not ours, to draw in and to look at. Each on a server of its own.
import { onTestFinished } from 'vitest'
import { needs } from './needs.ts'
import { type Ending, runProgram } from './programs.ts'
import { temporaryFolder } from './project.ts'
import { until } from './wait.ts'

export interface Pane {
  /** What is on the screen, row by row; with `-e` as escape sequences where attributes change. */
  capture(...flags: readonly string[]): Promise<string[]>
  /** Where the cursor is; nothing while it is hidden. */
  cursor(): Promise<Cursor | undefined>
  /** Both, from one moment. */
  look(...flags: readonly string[]): Promise<{ readonly cursor: Cursor | undefined; readonly rows: string[] }>
  type(text: string): Promise<void>
  /** What shows this pane in another terminal. */
  readonly attach: readonly string[]
  /** Resolves when the screen matches; a timeout shows the screen. */
  see(what: RegExp | string): Promise<void>
}

export interface Cursor {
  readonly x: number
  readonly y: number
}

export interface PaneOptions {
  readonly cols: number
  readonly rows: number
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

let panes = 0

/** Starts `command` in a pane of this size; what is left on its screen stays when it has ended. */
export async function openPane(command: readonly string[], { cols, rows, env = {}, cwd }: PaneOptions): Promise<Pane> {
  needs('tmux')
  const folder = temporaryFolder()
  panes += 1
  const server = `hm-${process.pid}-${panes}`
  const tmux = async (...args: readonly string[]): Promise<Ending> =>
    await runProgram(['tmux', '-L', server, '-f', '/dev/null', ...args], {
      env: { LC_ALL: 'C.UTF-8', TERM: 'xterm-256color', HOME: folder, TMUX_TMPDIR: folder, SHELL: '/bin/sh' },
    })
  const must = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await tmux(...args)
    if (code !== 0) throw new Error(`tmux ${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout
  }
  onTestFinished(async () => void (await tmux('kill-server')))
  const size = ['-x', String(cols), '-y', String(rows)]
  const settings = [
    ['set', '-g', 'status', 'off'],
    ['set', '-g', 'default-terminal', 'tmux-256color'],
    ['set', '-g', 'remain-on-exit', 'on'],
    ['set', '-g', 'remain-on-exit-format', ''],
    ['set', '-g', 'escape-time', '0'],
    ['set', '-as', 'terminal-features', ',tmux*:RGB:usstyle:strikethrough:overline'],
  ].flatMap((words) => [...words, ';'])
  const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
  const folderFlag = cwd === undefined ? [] : ['-c', cwd]
  await must(...settings, 'new-session', '-d', ...size, ...folderFlag, ...variables, ...command)
  const capture = async (...flags: readonly string[]): Promise<string[]> =>
    (await must('capture-pane', '-p', ...flags)).split('\n').slice(0, rows)
  const asksCursor = ['display-message', '-p', '#{cursor_flag} #{cursor_x} #{cursor_y}'] as const
  return {
    attach: ['env', '-u', 'TMUX', `TMUX_TMPDIR=${folder}`, 'tmux', '-L', server, 'attach'],
    capture,
    cursor: async () => readCursor(await must(...asksCursor)),
    async look(...flags) {
      const [said = '', ...lines] = (await must(...asksCursor, ';', 'capture-pane', '-p', ...flags)).split('\n')
      return { cursor: readCursor(said), rows: lines.slice(0, rows) }
    },
    async type(text) {
      const bytes = [...Buffer.from(text)].map((byte) => byte.toString(16).padStart(2, '0'))
      await must('send-keys', '-H', ...bytes)
    },
    async see(what) {
      let screen = ''
      const matches = async (): Promise<boolean> => {
        screen = (await capture()).join('\n')
        return typeof what === 'string' ? screen.includes(what) : what.test(screen)
      }
      await until(`the pane to show ${String(what)}`, matches, { context: () => screen })
    },
  }
}

function readCursor(said: string): Cursor | undefined {
  const [isShown, x = -1, y = -1] = said.trim().split(' ').map(Number)
  return isShown === 1 ? { x, y } : undefined
}
