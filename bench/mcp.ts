// The ledger server against an empty server on the same SDK, what its tools cost in tokens, and what the guard costs a commit.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { measure } from '../src/briefing/tokens.ts'
import { listing } from '../src/mcp/tool.ts'
import { TOOLS } from '../src/mcp/tools.ts'
import { runBench, type Side } from './support/bench.ts'

const CALLS = 200
const FILES = 1_000
const HELLO = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
}

/** A server process, spoken to one request at a time. */
class Session {
  readonly child: ChildProcess
  #pending: ((line: string) => void) | undefined
  #buffer = ''
  #id = 0

  constructor(program: string, cwd: string, env: NodeJS.ProcessEnv) {
    this.child = spawn(process.execPath, [program], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#buffer += text
      const end = this.#buffer.indexOf('\n')
      if (end < 0) return
      const line = this.#buffer.slice(0, end)
      this.#buffer = this.#buffer.slice(end + 1)
      this.#pending?.(line)
    })
  }

  async request(message: object): Promise<Record<string, unknown>> {
    this.#id += 1
    const answered = new Promise<string>((give) => (this.#pending = give))
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: this.#id, ...message })}\n`)
    const answer = JSON.parse(await answered) as Record<string, unknown>
    if (answer['result'] === undefined) throw new Error(`no result: ${JSON.stringify(answer)}`)
    return answer['result'] as Record<string, unknown>
  }

  async hello(): Promise<void> {
    await this.request(HELLO)
    this.child.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  }

  call(name: string, args: object): Promise<Record<string, unknown>> {
    return this.request({ method: 'tools/call', params: { name, arguments: args } })
  }

  async end(): Promise<void> {
    const ended = new Promise((done) => this.child.once('close', done))
    this.child.stdin?.end()
    await ended
  }
}

function calling(name: string, session: Session, tool: string, args: object): Side {
  return {
    name,
    /** The median of many calls, so that one slow write of the machine is not the result. */
    async measure() {
      const times: number[] = []
      for (let i = 0; i < CALLS; i += 1) {
        const start = performance.now()
        await session.call(tool, args)
        times.push((performance.now() - start) * 1000)
      }
      return times.toSorted((a, b) => a - b)[CALLS / 2] ?? Number.NaN
    },
  }
}

function starting(name: string, program: string, cwd: string, env: NodeJS.ProcessEnv): Side {
  return {
    name,
    async measure() {
      const start = performance.now()
      const session = new Session(program, cwd, env)
      await session.hello()
      const tookMs = performance.now() - start
      await session.end()
      return tookMs
    },
  }
}

/** Commits `FILES` changed files; with the guard its hooks run. */
function committing(name: string, root: string, env: NodeJS.ProcessEnv, config: readonly string[]): Side {
  let round = 0
  return {
    name,
    measure() {
      round += 1
      for (let i = 0; i < FILES; i += 1) writeFileSync(join(root, `src/file-${i}.txt`), `${name} ${round} ${i}\n`)
      execFileSync('git', ['add', '--all'], { cwd: root, env })
      const start = performance.now()
      execFileSync('git', [...config, 'commit', '--quiet', '-m', 'x'], { cwd: root, env, stdio: 'inherit' })
      return performance.now() - start
    },
  }
}

/** The same way of bundling as our own launchers, so that the comparison is about what they do. */
async function bundleEmptyServer(folder: string): Promise<string> {
  const build = await rolldown({
    input: 'bench/support/empty-mcp-server.ts',
    platform: 'node',
    checks: { pluginTimings: false },
  })
  await build.write({
    dir: folder,
    format: 'cjs',
    entryFileNames: 'empty.cjs',
    minify: { mangle: false, compress: false, codegen: true },
  })
  await build.close()
  return join(folder, 'empty.cjs')
}

function printToolCosts(): void {
  console.log('  tokens of tools/list (o200k_base): description and schema, goal under 100 a tool')
  const listings = TOOLS.map(listing)
  const costs = listings.map((tool) => measure(`${tool.description}\n${JSON.stringify(tool.inputSchema)}`).tokens)
  for (const [i, { name }] of listings.entries()) console.log(`    ${name.padEnd(20)} ${String(costs[i]).padStart(4)}`)
  console.log(
    `    ${'all of tools/list'.padEnd(20)} ${String(measure(JSON.stringify({ tools: listings })).tokens).padStart(4)}`,
  )
  if (costs.some((cost) => cost >= 100)) throw new Error('a tool costs 100 tokens or more')
}

async function printResultCosts(session: Session): Promise<void> {
  console.log('  tokens of results, as the text block that a model reads')
  const print = async (name: string, args: object, note = ''): Promise<void> => {
    const { content } = (await session.call(name, args)) as { content: { text: string }[] }
    const tokens = measure(content[0]?.text ?? '').tokens
    console.log(`    ${`${name}${note}`.padEnd(36)} ${String(tokens).padStart(5)}`)
  }
  await print('make_claim', { surfaces: ['src/a/**'], task: 'T-1' })
  await print('read_claims', {}, ', one claim')
  await print('check_claim', { surfaces: ['docs/**'] }, ', clear')
  await print('make_claim', { surfaces: ['held/x.ts'], task: 'T-2' }, ', one collision')
  await print('append_decision', { title: 'Use WAL', body: 'Readers must not wait.' })
  await print('blackboard_set', { key: 'dev_port', value: '5173' })
  await print('blackboard_get', { key: 'dev_port' })
  await print('read_capsules', {}, ', none')
  await print('inbox', {}, ', none')
  await print('brief', { task: 'T-1', spec: 'Add spans to errors.', facts: 'dev_port' })
  await print('raise_conflict_pr', { id: 'c1', title: 'two parsers', surfaces: ['src/a/**'] })
  await print('release_claim', {})
}

await runBench({
  name: 'mcp',
  about: 'the ledger server and the git guard',
  async prepare() {
    const folder = mkdtempSync(join(tmpdir(), 'hm-bench-'))
    const root = join(folder, 'project')
    mkdirSync(join(root, 'src'), { recursive: true })
    const env: NodeJS.ProcessEnv = {
      PATH: process.env['PATH'],
      HOME: folder,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'Ana',
      GIT_AUTHOR_EMAIL: 'ana@example.org',
      GIT_COMMITTER_NAME: 'Ana',
      GIT_COMMITTER_EMAIL: 'ana@example.org',
    }
    execFileSync('git', ['init', '--quiet', root], { env })
    // After some thousand objects git packs them behind a commit: in the time of the next one, and after the last in the folder that is being removed.
    execFileSync('git', ['config', 'maintenance.auto', 'false'], { cwd: root, env })
    execFileSync('git', ['config', 'gc.auto', '0'], { cwd: root, env })
    execFileSync('git', ['commit', '--quiet', '--allow-empty', '-m', 'start'], { cwd: root, env })
    const ours = resolve('bin/heimdall-ledger-mcp')
    const empty = await bundleEmptyServer(folder)
    const [ledger, other, baseline] = [
      new Session(ours, root, env),
      new Session(ours, root, env),
      new Session(empty, root, env),
    ]
    await Promise.all([ledger.hello(), other.hello(), baseline.hello()])
    await other.call('make_claim', { surfaces: ['held/**'], task: 'T-0' })
    printToolCosts()
    await printResultCosts(ledger)
    await ledger.call('make_claim', { surfaces: ['src/a/**'], task: 'T-1' })
    execFileSync(process.execPath, [resolve('bin/heimdall'), 'guard', 'install'], { cwd: root, env })
    const noop = calling('empty tool', baseline, 'noop', {})
    const goal = { atMost: 2 }
    return {
      comparisons: [
        {
          what: 'a tool call in a running server, p50 of 200',
          unit: 'µs',
          rounds: 9,
          ours: calling('check_claim', ledger, 'check_claim', { surfaces: ['src/b/**', 'docs/*.md'] }),
          peers: [{ ...noop, goal }],
        },
        {
          what: 'reading claims, p50 of 200',
          unit: 'µs',
          rounds: 9,
          ours: calling('read_claims', ledger, 'read_claims', {}),
          peers: [{ ...noop, goal }],
        },
        {
          what: 'a claim renewed: committed to disk and exported, p50 of 200',
          unit: 'µs',
          rounds: 3,
          ours: calling('make_claim', ledger, 'make_claim', { surfaces: ['src/a/**'], task: 'T-1' }),
          peers: [noop],
        },
        {
          what: 'start to first answer',
          unit: 'ms',
          rounds: 25,
          ours: starting('heimdall-ledger-mcp', ours, root, env),
          peers: [{ ...starting('empty server', empty, root, env), goal: { atMost: 1.3 } }],
        },
        {
          what: `a commit of ${FILES} files`,
          unit: 'ms',
          rounds: 7,
          ours: committing('with the guard', root, env, []),
          peers: [committing('git commit alone', root, env, ['-c', 'core.hooksPath=/dev/null'])],
        },
      ],
      async cleanup() {
        await Promise.all([ledger.end(), other.end(), baseline.end()])
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
})
