// A user who types what a page shows, line after line, into one shell at a terminal below init, in a fresh project with stand-ins for hosts and servers.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { type Spine, spine } from '../spine/spine.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { fixture, launcher } from '../support/programs.ts'
import { standInSsh } from '../support/stand-in-ssh.ts'
import { until } from '../support/wait.ts'

/** How a line is typed where more than Enter is wanted. */
export interface Way {
  /** Typed at once. */
  readonly first?: string
  /** Shown before anything is typed. */
  readonly see?: string
  /** Then typed. */
  readonly type?: string
  /** Exit code of the line, 0 by default. A line that `stays` gets a terminal of its own and runs until the page ends. */
  readonly ends?: number | 'stays'
  /** Put behind the line: what a page leaves out, such as the input of a server. */
  readonly behind?: string
  /** Typed before it, in its own way: what the page takes for granted. */
  readonly before?: readonly [line: string, way?: Way]
}

/** Ways by what a line begins with. The longest that fits is taken. */
export type Ways = Readonly<Record<string, Way>>

/** The command lines of each block of a page, without comments. */
export function blocksOf(page: string): string[][] {
  const bins = new Set(Object.keys((JSON.parse(readFileSync('package.json', 'utf8')) as { bin: object }).bin))
  return [...readFileSync(page, 'utf8').matchAll(/^```(?:sh)?\n([^]*?)^```/gm)].map((block) =>
    (block[1] ?? '')
      .split('\n')
      // `$ heimdall …` is followed by what it printed; words in columns behind a command say what it does.
      .map((line) =>
        line
          .replace(/^\$ /, '')
          .replace(/\s+#\s.*$/, '')
          .replace(/\s{3,}.*$/, ''),
      )
      .filter((line) => bins.has(line.split(' ')[0] ?? '')),
  )
}

/** Marks the end of each line with its exit code. Ctrl-C ends the command and not the shell. */
const SHELL = `stty -echo; trap : INT; while IFS= read -r line; do eval "$line"; printf '\\036%s\\036' "$?"; done`
const ENDED = /\u001e(\d+)\u001e/

interface Reader extends Spine {
  type(line: string, way?: Way): Promise<void>
  /** What the last line that was typed has written. */
  said(): string
}

/** `claude` that is none, `npx` that knows one server, `ssh` that stays here. */
export function reader(): Reader {
  const project = spine()
  const bin = join(project.home, 'bin')
  mkdirSync(bin)
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  for (const name of Object.keys((JSON.parse(readFileSync('package.json', 'utf8')) as { bin: object }).bin))
    program(name, `exec '${launcher(name).join("' '")}' "$@"`)
  for (const host of ['claude', 'codex', 'gemini']) program(host, `exec '${fixture('stand-in-host').join("' '")}' "$@"`)
  const server = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js')
  program('npx', `exec '${process.execPath}' '${server}' stdio`)
  copyFileSync('policies/careful.yaml', project.path('team.yaml'))
  copyFileSync('policies/careful.yaml', project.path('policy.yaml'))
  mkdirSync(project.path('policies'))
  copyFileSync(resolve('policies/careful.yaml'), project.path('policies/careful.yaml'))
  for (const other of ['shop', 'site']) mkdirSync(join(project.home, 'src', other), { recursive: true })
  project.write('.env', 'KEY=1\n')
  project.write('.gitignore', '.env\n')
  project.write('nightly.sh', '#!/bin/sh\necho done\n')
  chmodSync(project.path('nightly.sh'), 0o755)
  project.write('src/matching/engine.ts', 'export {}\n')
  project.git('add', '--all')
  project.git('commit', '--quiet', '--message=a project')
  // The machine `box` is this one.
  const PATH = `${bin}:${standInSsh(project.home).env.PATH}`
  const start = { cwd: project.root, env: { ...project.env, PATH, TERM: 'xterm-256color', NO_COLOR: '1' } }
  const shell = ownTerminal(['sh', '-c', SHELL], start)
  let before = 0
  const said = (): string => shell.written().slice(before)
  const self: Reader = {
    ...project,
    said,
    async type(line, { first = '', see, type = '', ends = 0, behind = '', before: earlier } = {}) {
      if (earlier !== undefined) await self.type(...earlier)
      if (ends === 'stays') {
        const own = ownTerminal(['sh', '-c', `exec ${line} ${behind}`], start)
        if (see !== undefined) await own.see(see)
        return
      }
      before = shell.written().length
      const context = (): string => said().slice(-2_000)
      shell.type(`${line} ${behind}\r${first}`)
      if (see !== undefined) await until(`${line} to show ${see}`, () => said().includes(see), { context })
      shell.type(type)
      const code = await until(`${line} to end`, () => ENDED.exec(said())?.[1], { context })
      expect([line, Number(code)], context()).toEqual([line, ends])
    },
  }
  return self
}

export function wayOf(line: string, ways: Ways): Way | undefined {
  const fitting = Object.keys(ways).filter((start) => line.startsWith(start))
  return ways[fitting.toSorted((a, b) => b.length - a.length)[0] ?? '']
}
