// Killed without a word while tasks run, any of the processes that a task is carried by: each task ends exactly once, and no attempt is begun twice (seed 003).
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { openCoordination } from '../../src/coordination/coordination.ts'
import { listDispatched, showTask } from '../../src/dispatch/tasks.ts'
import { findProject } from '../../src/paths.ts'
import { isErrno } from '../../src/errors.ts'
import { scaled } from '../support/scale.ts'
import { withSeed } from '../support/seed.ts'
import { DONE, fleet } from './dispatch-kit.ts'

const TASKS = scaled(3, 20)
/** The processes of a task, from the outside to the inside. */
const VICTIMS = ['orchestrator', 'worker', 'session', 'task', 'agent'] as const
/** Says which attempt began, in which processes, and works for a moment. */
const SCRIPT = `echo "$HEIMDALL_TASK_ID $HEIMDALL_AGENT_ID $$ $PPID" >> "$HOME/begun"; sleep 1; ${DONE}`

const TIMEOUT_MS = scaled(300_000, 3_600_000)

test('whoever is killed at random, each task ends once', { timeout: TIMEOUT_MS }, async () => {
  await withSeed(async (random) => {
    const project = fleet()
    const room = openCoordination({
      project: findProject(project.root, project.env),
      env: project.env,
      clock: systemClock,
    })
    const over = new AbortController()
    onTestFinished(() => {
      over.abort()
      room.store.close()
    })
    let orchestrator = await project.serve()
    const workers = [await project.worker('w0', SCRIPT, ['--slots', '2']), await project.worker('w1', SCRIPT)]
    for (let i = 0; i < TASKS; i += 1)
      await project.json(['task', 'add', 'do it', '--id', `K-${i}`, '--read-only', '--idempotent'])
    const begun = (): string[][] =>
      existsSync(join(project.home, 'begun'))
        ? readFileSync(join(project.home, 'begun'), 'utf8')
            .trim()
            .split('\n')
            .map((line) => line.split(' '))
        : []
    const strike = async (begunLine: readonly string[]): Promise<void> => {
      const victim = VICTIMS[Math.floor(random() * VICTIMS.length)]
      const [agent = 0, task = 0] = begunLine.slice(-2).map(Number)
      if (victim === 'orchestrator') {
        orchestrator.kill('SIGKILL')
        await orchestrator.ended
        orchestrator = await project.serve()
      } else if (victim === 'worker') {
        const which = Math.floor(random() * workers.length)
        workers[which]?.program.kill('SIGKILL')
        await workers[which]?.program.ended
        workers[which] = await project.worker(`w${which}`, SCRIPT, which === 0 ? ['--slots', '2'] : [])
      } else killOne(victim === 'agent' ? agent : victim === 'task' ? task : parentOf(task))
    }
    const open = (): number => listDispatched(room).filter(({ endedMs }) => endedMs === null).length
    let struck = 0
    const from = room.store.read((rows) => rows.head())
    // Each attempt that begins is the moment of a kill, until there have been as many as tasks; whatever changes is looked at.
    for await (const _ of room.store.follow(from, over.signal)) {
      for (const line of begun().slice(struck, TASKS)) {
        struck += 1
        await strike(line)
      }
      if (open() === 0) break
    }
    expect(struck).toBeGreaterThan(0)
    const ends = room.store.read((rows) => rows.events({ types: ['TASK_END'] }))
    expect(ends.map(({ task }) => String(task)).sort()).toEqual(
      Array.from({ length: TASKS }, (_, i) => `K-${i}`).sort(),
    )
    for (const { taskId, state } of listDispatched(room)) {
      expect(['done', 'failed']).toContain(state)
      // Failed is only what failed twice.
      if (state === 'failed') expect(showTask(room, taskId).task.dispatch.failures).toBe(2)
    }
    // An agent is named after its attempt.
    const agents = begun().map(([task, agent]) => `${task} ${agent}`)
    expect(new Set(agents).size).toBe(agents.length)
  })
})

/** One that is gone by itself needs no kill. */
function killOne(pid: number): void {
  if (pid <= 1) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error
  }
}

function parentOf(pid: number): number {
  try {
    return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).trim())
  } catch {
    return 0
  }
}
