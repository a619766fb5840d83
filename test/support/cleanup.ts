// Cleanup of what tests start: at the end of the test, or of the file for what `perFile` starts for all its tests.
import { beforeAll, onTestFinished as onEndOfTest } from 'vitest'

type Act = () => unknown

let ofFile: Act[] | undefined

/** Registers a cleanup for the running test, or for the file while `perFile` is at work. */
export function onTestFinished(act: Act): void {
  if (ofFile === undefined) onEndOfTest(async () => void (await act()))
  else ofFile.push(act)
}

/** Makes something once, before the first test of the file; every test gets the same. */
export function perFile<T>(make: () => T | Promise<T>, timeoutMs?: number): () => T {
  let made: T | undefined
  beforeAll(async () => {
    const acts: Act[] = []
    const cleanUp = async (): Promise<void> => {
      for (const act of acts.toReversed()) await act()
    }
    ofFile = acts
    try {
      made = await make()
    } catch (error) {
      await cleanUp()
      throw error
    } finally {
      ofFile = undefined
    }
    return cleanUp
  }, timeoutMs)
  return () => {
    if (made === undefined) throw new Error('made before the first test, and not there')
    return made
  }
}
