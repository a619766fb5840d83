// A server whose list of tools a test changes, behind shims in one project; and the person who looks at its tools.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runLauncher } from './in-process.ts'
import { ownTerminal } from './own-terminal.ts'
import { type Ending, fixture, launcher } from './programs.ts'
import { temporaryFolder } from './project.ts'
import { bundle, type Json, type ShimClient, type ShimSetup, startShim } from './shim-client.ts'

export interface PinnedServer {
  readonly home: string
  readonly project: string
  readonly env: Readonly<Record<string, string>>
  /** What it lists from now on: one page of tools. */
  lists(...tools: readonly object[]): void
  /** The same in all its ways; see the fixture. */
  answers(lists: object): void
  shim(setup?: ShimSetup, mode?: 'observe' | 'guardrails' | 'control'): ShimClient
  /** `heimdall mcp pins WORDS`, as a program. */
  pin(...words: string[]): Promise<Ending>
  /** `data` of the same with --json. */
  pinData(...words: string[]): Promise<Json>
  /** The same as a person types it. */
  person(...words: string[]): Promise<{ readonly code: number; readonly text: string }>
  /** Files in which pins are kept. */
  files(): string[]
}

export function pinnedServer(): PinnedServer {
  const home = temporaryFolder()
  const project = temporaryFolder()
  const listFile = join(temporaryFolder(), 'lists.json')
  const pinsDir = join(home, '.local/state/heimdall/pins')
  const server: PinnedServer = {
    home,
    project,
    env: { HOME: home, LIST_FILE: listFile },
    lists: (...tools) => server.answers({ pages: [tools] }),
    answers: (lists) => writeFileSync(listFile, JSON.stringify(lists)),
    shim: (setup = {}, mode = 'control') =>
      startShim({
        policy: bundle([], { mode }),
        server: fixture('listing-server'),
        home,
        cwd: project,
        ...setup,
        env: { LIST_FILE: listFile, ...setup.env },
      }),
    pin: (...words) => runLauncher('heimdall', ['mcp', 'pins', ...words], { cwd: project, env: { HOME: home } }),
    async pinData(...words) {
      const { stdout, stderr } = await server.pin(...words, '--json')
      const { data } = JSON.parse(stdout) as { data: Json | null }
      expect(data, stderr + stdout).not.toBeNull()
      return data as Json
    },
    async person(...words) {
      const terminal = ownTerminal([...launcher('heimdall'), 'mcp', 'pins', ...words], {
        cwd: project,
        env: { HOME: home },
      })
      const code = await terminal.ended
      return { code, text: terminal.written() }
    },
    files: () =>
      readdirSync(pinsDir)
        .filter((name) => name.endsWith('.json'))
        .map((name) => join(pinsDir, name)),
  }
  return server
}

let lists = 0

/** Asks for a page of the list. When it returns, the shim has dealt with the answer: another one came after it. */
export async function listTools(shim: ShimClient, cursor?: string): Promise<Json> {
  lists += 1
  const id = `list-${lists}`
  shim.send({ jsonrpc: '2.0', id, method: 'tools/list', ...(cursor === undefined ? {} : { params: { cursor } }) })
  const page = await shim.answer(id)
  await settled(shim)
  return page
}

export async function settled(shim: ShimClient): Promise<void> {
  lists += 1
  shim.send({ jsonrpc: '2.0', id: `ping-${lists}`, method: 'ping' })
  await shim.answer(`ping-${lists}`)
}

/** Why a call was refused, or that it was not. */
export async function fate(shim: ShimClient, name: string): Promise<string> {
  const answer = await shim.call(name)
  return (answer['error']?.data.subluminal.reason_code as string | undefined) ?? 'passed'
}

export const tool = (name: string, description = `${name} it`, more: object = {}): object => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  ...more,
})
