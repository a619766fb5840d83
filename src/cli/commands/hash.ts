// heimdall hash: the canonical hash of JSON on stdin.
import { canonicalBytes, canonicalHash } from '../../canonical/canonical.ts'
import type { Run } from '../command.ts'
import type { hash } from '../table/core.ts'
import { readAll } from '../stdin.ts'

export const run: Run<typeof hash> = async (context, { flags }) => {
  const source = await readAll(context.stdin)
  const digest = canonicalHash(source)
  if (flags.canonical !== true) return { data: { hash: digest }, text: digest }
  const canonical = canonicalBytes(source).toString('utf8')
  return { data: { hash: digest, canonical }, text: canonical }
}
