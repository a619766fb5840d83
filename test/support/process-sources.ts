// Tests that run once for each way of asking the system about processes; programs that they start ask in the same way.
import { afterAll, beforeAll, describe } from 'vitest'
import { readProcessesFrom } from '../../src/processes.ts'

export type SourceName = 'proc' | 'ps' | 'ps-without-environment'

let current: SourceName = 'proc'

/** What a program that is started now is told. */
export const sourceEnv = (): Readonly<Record<string, string>> =>
  current === 'proc' ? {} : { HEIMDALL_PROCESSES: current }

export function eachSource(tests: (source: SourceName) => void, sources: readonly SourceName[] = ['proc', 'ps']): void {
  describe.each(sources.map((source) => ({ source })))('processes by $source', ({ source }) => {
    beforeAll(() => use(source))
    afterAll(() => use('proc'))
    tests(source)
  })
}

function use(source: SourceName): void {
  current = source
  readProcessesFrom(source)
}
