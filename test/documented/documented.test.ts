// Every command line that the README and the pages for people show is run, in the order of the page. The two lines that set up everything are tried by test/documented/two-lines.test.ts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
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

/** Any port will do where several tests, or a person's own hub, run at once. */
const UP: Way = { behind: '--port 0', see: 'Ctrl-C stops it' }

/** What a person does with a line besides typing it. */
const WAYS: Ways = {
  'heimdall run --agent amber-otter -- ': { see: 'stand-in>', type: DETACH },
  'heimdall run --agent amber-otter --policy': { see: 'stand-in>', type: 'exit\r' },
  'heimdall run --agent amber-otter --worktree': { see: 'stand-in>', type: 'exit\r' },
  'heimdall run --agent nightly': {},
  'heimdall run ': { see: 'stand-in>', type: 'exit\r' },
  'hm attach': { see: 'stand-in>', type: DETACH },
  'hm --host box attach': { before: ['hm run --id api --detach -- claude'], see: 'stand-in>', type: DETACH },
  'hm run --id agent -- claude': { see: 'stand-in>', type: 'exit\r' },
  'hm logs agent -f': { see: 'stand-in>', type: CTRL_C, ends: 130 },
  'hm record agent': { see: 'agent.cast', type: CTRL_C },
  'heimdall up': { ...UP, type: CTRL_C },
  'heimdall open': { before: ['heimdall up', { ...UP, ends: 'stays' }] },
  'heimdall worker start': { see: 'takes tasks', ends: 'stays' },
  'heimdall init': { see: '[y/N]', type: 'y\r' },
  'heimdall init --dry-run': {},
  'heimdall uninstall': { see: '[y/N]', type: 'y\r' },
  'heimdall import': { see: '[y/N]', type: 'y\r' },
  // Its input ends when the server has answered, as a client's does: a server that is still starting is ended with the input.
  'heimdall shim': { first: ASKED, see: '"inputSchema"', type: CTRL_D },
  // Somebody else holds it, as the page has shown before.
  'heimdall claim check': { ends: 5 },
  'heimdall secrets add': { see: 'github_token', type: 'a-value-of-its-own\r' },
}

/** Lines that take several machines: fleet-lines.test.ts. The demo's are played by test/demo. */
const ELSEWHERE = /^heimdall fleet /

/** Pages that list ways to call one command, each for itself. */
const LISTS = new Set(['docs/run.md', 'docs/hub.md'])

const PAGES = [
  'README.md',
  ...['run', 'sessions', 'worktrees', 'dispatch', 'hub'].map((name) => `docs/${name}.md`),
  ...['claude-code', 'codex', 'gemini-cli'].map((name) => `docs/hosts/${name}.md`),
]

const BLOCKS = PAGES.flatMap((page) =>
  blocksOf(page)
    .map((block) => block.filter((line) => !ELSEWHERE.test(line)))
    .flatMap((block) => (LISTS.has(page) ? block.map((line) => [line]) : [block]))
    .filter((block) => block.length > 0)
    .map((block) => ({ page, block })),
)

test.each(BLOCKS)('$page, from $block.0 on', async ({ block }) => {
  const person = reader()
  writeFileSync(
    join(person.home, '.claude.json'),
    JSON.stringify({ mcpServers: { git: { command: 'npx', args: ['-y', 'some-mcp-server'] } } }),
  )
  for (const line of block) await person.type(line, wayOf(line, WAYS))
})
