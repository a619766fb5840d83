// Text of a bundle to plain data, JSON without the YAML reader where possible: a shim starts faster without it.
import { canonicalBytes } from '../../canonical/canonical.ts'
import { HeimdallError } from '../../errors.ts'
import { POLICY_DEPTH_MAX, POLICY_JSON_BYTES_MAX, POLICY_YAML_BYTES_MAX } from '../../limits.ts'
import { type Locate, invalidPolicy } from './problems.ts'

export interface PolicyText {
  readonly value: unknown
  /** Loads the YAML reader, which knows lines of JSON too; asked for only to report problems. */
  readonly locator: () => Promise<Locate>
}

export async function readPolicyText(text: string, name: string): Promise<PolicyText> {
  const bytes = Buffer.byteLength(text)
  const json = bytes <= POLICY_JSON_BYTES_MAX ? readJson(text, name) : undefined
  if (json !== undefined) {
    refuseDepth(json.value, name)
    // Lines are found by the YAML reader, which is not to be given more than it may read.
    const isLocatable = bytes <= POLICY_YAML_BYTES_MAX
    return {
      value: json.value,
      locator: async () => (isLocatable ? (await import('./yaml.ts')).locateIn(text) : () => undefined),
    }
  }
  if (bytes > POLICY_YAML_BYTES_MAX)
    throw invalidPolicy(name, [
      {
        path: '',
        message: `${bytes} bytes; a bundle may have ${POLICY_YAML_BYTES_MAX} as YAML and ${POLICY_JSON_BYTES_MAX} as JSON`,
      },
    ])
  const { readYaml } = await import('./yaml.ts')
  const { value, locate } = readYaml(text, name)
  refuseDepth(value, name)
  return { value, locator: () => Promise.resolve(locate) }
}

/** Undefined when the text is not JSON; it may still be YAML. */
function readJson(text: string, name: string): { readonly value: unknown } | undefined {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    canonicalBytes(text)
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    if (error.code === 'JSON_MALFORMED') return undefined
    // The YAML reader refuses it too, and knows the line.
    if (error.code === 'JSON_DUPLICATE_KEY' && Buffer.byteLength(text) <= POLICY_YAML_BYTES_MAX) return undefined
    throw invalidPolicy(name, [{ path: '', message: error.message }])
  }
  return { value: JSON.parse(text) as unknown }
}

function refuseDepth(value: unknown, name: string): void {
  if (depthOf(value) > POLICY_DEPTH_MAX)
    throw invalidPolicy(name, [{ path: '', message: `nested deeper than ${POLICY_DEPTH_MAX} levels` }])
}

/** Counts no further than one past the limit. A list may have millions of items, so they are not spread into a call. */
function depthOf(value: unknown, above = 0): number {
  if (typeof value !== 'object' || value === null || above > POLICY_DEPTH_MAX) return above
  let deepest = above + 1
  for (const item of Object.values(value)) deepest = Math.max(deepest, depthOf(item, above + 1))
  return deepest
}
