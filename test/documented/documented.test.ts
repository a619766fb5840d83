// Every command line that the README and the user pages show is typed once, in the order of the page. The two lines that set up everything are in two-lines.test.ts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { blocksOf, reader, type Way, type Ways, wayOf } from './reader.ts'

const DETACH = '\u001c'
const CTRL_C = '\u0003'
const CTRL_D = '\u0004'

/** What a client asks a server first. */
const ASKED = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'reader', version: '0' } },
  },
  { id: 2, method: 'tools/list', params: {} },
]
  .map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`)
  .join('')

/** Any port, since several tests or the user's own hub may run at once. */
const UP: Way = { behind: '--port 0', see: 'Ctrl-C stops the hub' }

/** What a user does with a line besides typing it. */
const WAYS: Ways = {
  'heimdall run --agent amber-otter ': { see: 'stand-in>', type: DETACH },
  'heimdall run --agent amber-otter --policy': { see: 'stand-in>', type: 'exit\r' },
  'heimdall run --agent amber-otter --worktree': { see: 'stand-in>', type: 'exit\r' },
  'heimdall run --agent nightly': {},
  'heimdall run ': { see: 'stand-in>', type: 'exit\r' },
  'hm attach': { see: 'stand-in>', type: DETACH },
  // Ends the session: the name is free for the next run of this agent.
  'heimdall attach amber-otter': { see: 'stand-in>', type: 'exit\r' },
  'hm --host box attach': { before: ['hm run --id api --detach -- claude'], see: 'stand-in>', type: DETACH },
  'hm run --id agent -- claude': { see: 'stand-in>', type: 'exit\r' },
  'hm logs agent -f': { see: 'stand-in>', type: CTRL_C, ends: 130 },
  'hm record agent': { see: 'agent.cast', type: CTRL_C },
  'heimdall up': { ...UP, type: CTRL_C },
  'heimdall up --stop': {},
  'heimdall open': { before: ['heimdall up', { ...UP, ends: 'stays' }] },
  'heimdall worker start': { see: 'takes tasks', ends: 'stays' },
  'heimdall init': { see: '[y/N]', type: 'y\r' },
  'heimdall init --dry-run': {},
  'heimdall uninstall': { see: '[y/N]', type: 'y\r' },
  'heimdall mcp import': { see: '[y/N]', type: 'y\r' },
  // Its input ends when the server has answered, as a client's does: a server that is still starting is ended with the input.
  'heimdall mcp shim': { first: ASKED, see: '"inputSchema"', type: CTRL_D },
  // Somebody else holds it, as the page has shown before.
  'heimdall claim check': { ends: 5 },
  'heimdall mcp secrets add': { see: 'github_token', type: 'a-value-of-its-own\r' },
}

/**
 * Lines that take several machines: fleet-lines.test.ts. Those that name a task by the id that it got:
 * dispatch/review.test.ts. The demo's are played by test/demo.
 */
const ELSEWHERE = /^heimdall (fleet |task (diff|reply|merge) t-)/

const PAGES = [
  'README.md',
  ...['run', 'sessions', 'worktrees', 'dispatch', 'hub'].map((name) => `docs/${name}.md`),
  ...['claude-code', 'codex', 'gemini-cli'].map((name) => `docs/hosts/${name}.md`),
]

/** Lines that begin another project: nothing before them is needed, or it registers an agent that the page has run before. */
const IN_NEW_PROJECT = ['heimdall policy init', 'hm run --id api', 'heimdall-resolve', 'bb agent register']

/** What is typed into one shell, in this order. */
interface Play {
  readonly page: string
  readonly lines: string[]
}

/** A line that an earlier page has shown is not typed again. */
function plays(): Play[] {
  const seen = new Set<string>()
  const all: Play[] = []
  for (const page of PAGES) {
    let play: Play | undefined
    for (const line of blocksOf(page).flat()) {
      if (ELSEWHERE.test(line) || seen.has(line)) continue
      seen.add(line)
      if (play === undefined || IN_NEW_PROJECT.some((start) => line.startsWith(start)))
        all.push((play = { page, lines: [] }))
      play.lines.push(line)
    }
  }
  return all
}

/** Most of the time a line waits for programs. */
const AT_ONCE = 4

test('each line of the README and the user pages does what it says', async () => {
  const left = plays()
  expect(new Set(left.map(({ page }) => page)).size).toBeGreaterThan(5)
  const typeNext = async (): Promise<void> => {
    for (let play = left.shift(); play !== undefined; play = left.shift()) {
      const user = newcomer()
      for (const line of play.lines) await user.type(line, wayOf(line, WAYS))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, typeNext))
})

function newcomer(): ReturnType<typeof reader> {
  const user = reader()
  writeFileSync(
    join(user.home, '.claude.json'),
    JSON.stringify({ mcpServers: { git: { command: 'npx', args: ['-y', 'some-mcp-server'] } } }),
  )
  return user
}
