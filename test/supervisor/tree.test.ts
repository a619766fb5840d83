// The end of process trees: whatever a child has started, nothing of it is left, and nothing else is touched.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readExitRecord } from '../../src/sessions/session-files.ts'
import { eachSource } from '../support/process-sources.ts'
import { isRunning } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { until, waitForFile } from '../support/wait.ts'
import { processesOf, sh, start } from './support/session.ts'

/** Without /proc, who holds the terminal is asked of this program. */
const HAS_FUSER = ['/usr/bin/fuser', '/bin/fuser', '/usr/sbin/fuser'].some((path) => existsSync(path))

/** Trees of different habits; each says `up` when all of it is there. */
const TREES: readonly { readonly script: string; readonly processes: number }[] = [
  { script: 'sleep 900 & sleep 901 & echo up; wait', processes: 3 },
  { script: 'setsid sleep 902 & setsid sh -c "sleep 903 & wait" & echo up; wait', processes: 4 },
  {
    script: '(setsid sh -c "trap \'\' TERM HUP INT; while :; do sleep 904; done" &) ; echo up; sleep 905',
    processes: 4,
  },
  {
    script: 'trap "" TERM HUP; sh -c "trap \'\' TERM HUP; sleep 906; sleep 907" & echo up; while :; do sleep 908; done',
    processes: 4,
  },
  { script: 'nohup sleep 909 >/dev/null 2>&1 & (sleep 910 & sleep 911 &) ; echo up; exec sleep 912', processes: 4 },
  { script: 'i=0; while [ $i -lt 12 ]; do setsid sleep 913 & i=$((i+1)); done; echo up; wait', processes: 13 },
]

eachSource(
  () => {
    test('trees of every habit are killed, and nobody survives', async () => {
      for (let n = 0; n < scaled(2, 200); n += 1) {
        const { script, processes } = TREES[n % TREES.length] as (typeof TREES)[number]
        const session = await start(sh(script), { graceMs: 300 })
        const client = await session.connect()
        client.subscribe()
        await client.waitForOutput('up')
        await until('the whole tree', () => processesOf(session).length >= processes)
        client.send('kill')
        await client.exit()
        await session.gone()
        expect(processesOf(session)).toEqual([])
      }
    })
  },
  HAS_FUSER ? ['proc', 'ps', 'ps-without-environment'] : ['proc', 'ps'],
)

// By the marks in their environment, and by their places in the tree where no environment is shown.
eachSource(() => {
  test('a session started inside a session is not part of its tree', async () => {
    const folder = temporaryFolder()
    const inner = join(folder, 'in')
    const script = `"${process.execPath}" bin/hm run --detach --id inner --socket-dir "${inner}" -- sleep 926; echo up; sleep 927`
    const outer = await start(sh(script), { cwd: process.cwd(), graceMs: 200 })
    const pids = await until('the inner session', () => {
      try {
        const [supervisor, child] = readFileSync(join(inner, 'inner.pid'), 'utf8').split('\n').map(Number)
        return supervisor !== undefined && child !== undefined && child > 0 && [supervisor, child]
      } catch {
        return undefined
      }
    })
    const client = await outer.connect()
    client.send('kill')
    await outer.gone()
    expect(pids.map(isRunning)).toEqual([true, true])
    process.kill(pids[0] as number, 'SIGTERM')
    await until('the inner session to end', () => !pids.some(isRunning))
  })
}, ['proc', HAS_FUSER ? 'ps-without-environment' : 'ps'])

eachSource((source) => {
  test('a child that ends by itself leaves nothing behind either', async () => {
    const session = await start(sh('setsid sleep 920 & sleep 921 & echo up; exit 6'), { graceMs: 300 })
    const client = await session.connect()
    client.subscribe()
    expect(await client.exit()).toBe(6)
    await session.gone()
    expect(processesOf(session)).toEqual([])
    expect(readExitRecord(session.dir, 't')).toMatchObject({ exit_code: 6, reason: 'exit' })
  })

  test('a process that cleared its environment and left everything is known from before', async () => {
    // Nothing tells it from another one's sleep but how long it is.
    const seconds = `922.${process.pid}`
    const session = await start(sh(`setsid env -i sleep ${seconds} & echo up; sleep 923`), { graceMs: 300 })
    const escaped = await until('the sleep', () =>
      readdirSync('/proc').find((name) => /^\d+$/.test(name) && commandLine(name) === `sleep ${seconds} `),
    )
    const client = await session.connect()
    client.send('kill')
    await session.gone()
    expect(isRunning(Number(escaped))).toBe(false)
  })

  test.skipIf(source === 'ps' && !HAS_FUSER)(
    'a process that was orphaned at once, with nothing left of the session but its terminal, is found by that',
    async () => {
      const folder = temporaryFolder()
      const up = join(folder, 'up')
      const escape = `(setsid env -i sh -c 'echo $$ > ${up}.new; mv ${up}.new ${up}; trap "" TERM HUP; while :; do sleep 1; done' &)`
      const session = await start(sh(`${escape}; while [ ! -e ${up} ]; do :; done; exit 4`), { graceMs: 300 })
      const escaped = Number(await waitForFile(up))
      await session.gone()
      expect(isRunning(escaped)).toBe(false)
      expect(readExitRecord(session.dir, 't')).toMatchObject({ exit_code: 4, reason: 'exit' })
    },
  )

  test('a process of another terminal that has ours open lives on', async () => {
    const session = await start(sh('tty; sleep 928'), { graceMs: 100 })
    const client = await session.connect()
    client.subscribe()
    await client.waitForOutput(/pts\/\d+\r/)
    const path = client.output().trim()
    const neighbour = await start(sh(`exec 3>&1 >${path}; echo up >&3; sleep 929`), { graceMs: 100 })
    const watcher = await neighbour.connect()
    watcher.subscribe()
    await watcher.waitForOutput('up')
    client.send('kill')
    await session.gone()
    expect((await watcher.status()).alive).toBe(true)
  })

  test('with kill_process_group off the child alone is meant, and the rest lives', async () => {
    const session = await start(sh('setsid sleep 924 & echo up; sleep 925'), { killProcessGroup: false })
    const client = await session.connect()
    client.subscribe()
    await client.waitForOutput('up')
    const tree = await until('the tree', () => processesOf(session).length >= 3 && processesOf(session))
    client.send('kill')
    await client.exit()
    await session.gone()
    const left = processesOf(session)
    expect(left.length).toBeGreaterThan(0)
    expect(left.every((pid) => tree.includes(pid))).toBe(true)
    for (const pid of left) process.kill(pid, 'SIGKILL')
  })
})

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
