// Names the tests that passed only the second time, at the end of a run, so that a second try hides nothing.
import type { Reporter, TestCase } from 'vitest/node'

export default class UnsteadyReporter implements Reporter {
  readonly #unsteady: TestCase[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) this.#unsteady.push(test)
  }

  onTestRunEnd(): void {
    for (const test of this.#unsteady) {
      const errors = test.result().errors ?? []
      console.log(`UNSTEADY, passed the second time: ${test.module.relativeModuleId} > ${test.fullName}`)
      for (const error of errors) console.log(`  the first time: ${error.message.slice(0, 1_000)}`)
    }
  }
}
