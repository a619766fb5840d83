// Many runs at once, started and ended at random, while status is asked all the time: every run closed once, every claim released, status right throughout.
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { scaled } from '../support/scale.ts'
import { withSeed } from '../support/seed.ts'
import type { Json } from '../support/shim-client.ts'
import { until, waitForFile } from '../support/wait.ts'
import { isClosedOnce, spine } from './spine.ts'

const PATH = `${resolve('bin')}:${process.env['PATH'] ?? ''}`
const RUNS = scaled(6, 50)

test(`${RUNS} runs at once: status never shows one that has not begun or has been closed, and nothing is left`, () =>
  withSeed(async (chance) => {
    const at = spine()
    const names = Array.from({ length: RUNS }, (_, i) => `agent-${i}`)
    /** What is certain at the moment, as this test has it from the commands themselves. */
    const isRunning = new Set<string>()
    const isClosed = new Set<string>()
    const over = new AbortController()
    const looks = (async () => {
      for (let count = 0; ; count += 1) {
        const [running, closed] = [new Set(isRunning), new Set(isClosed)]
        const agents = (await at.json(['status']))['agents'] as Json[]
        const goesOn = new Set(agents.filter(({ run_id: run }) => run !== null).map(({ agent_id: id }) => String(id)))
        // What ended while status looked may be either.
        for (const name of running) if (isRunning.has(name)) expect(goesOn).toContain(name)
        for (const name of closed) expect(goesOn).not.toContain(name)
        if (over.signal.aborted) return count
      }
    })()
    await Promise.all(
      names.map(async (name, i) => {
        const held = join(at.home, `${name}.held`)
        // Taken by the agent itself: nobody else may act under its name.
        const script = `heimdall claim src/${name} >/dev/null && touch ${held}; read x`
        await at.detached(name, ['sh', '-c', script], [], { env: { PATH } })
        isRunning.add(name)
        await waitForFile(held)
        if (chance() < 0.5) await at.json(['status'])
        isRunning.delete(name)
        if (i % 2 === 0) await at.run('hm', ['kill', '--wait', name])
        else await at.run('hm', ['send', name, 'x\n'])
        await until(`the run of ${name} to be closed`, () =>
          at.sheets().every((sheet) => (sheet['agent'] as Json)['agent_id'] !== name),
        )
        isClosed.add(name)
      }),
    )
    over.abort()
    expect(await looks).toBeGreaterThan(0)
    const claimed = (await at.json(['claim', 'history', '--type', 'CLAIM'])) as unknown as Json[]
    expect(claimed).toHaveLength(RUNS)
    expect(await at.claims()).toEqual([])
    expect(at.runs()).toHaveLength(RUNS)
    for (const run of at.runs()) expect(isClosedOnce(at.events(run))).toBe(true)
  }))
