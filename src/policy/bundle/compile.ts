// Bundle text to snapshot: what `heimdall policy compile` prints and a shim loads.
import { readBundle } from './bundle.ts'
import { Problems, invalidPolicy } from './problems.ts'
import { readPolicyText } from './text.ts'
import type { Snapshot } from '../types.ts'

/**
 * Compiles YAML or JSON. `name` is what messages call the source, usually the file's name. Throws POLICY_INVALID with
 * `details.problems` (path, line, column, message). A snapshot compiles to itself.
 */
export async function compileBundle(text: string, { name }: { readonly name: string }): Promise<Snapshot> {
  const { value, locator } = await readPolicyText(text, name)
  const problems = new Problems()
  const snapshot = readBundle(value, problems)
  if (!problems.isEmpty) throw invalidPolicy(name, problems.located(await locator()))
  return snapshot
}
