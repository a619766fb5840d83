// A secret's value from where its binding says that it is.
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import type { Env } from '../../paths.ts'
import type { Binding } from './bindings.ts'
import { type Looked, lookInKeychain } from './keychain.ts'
import { readSecrets, secretsPath } from './store.ts'
import { whyNotValue } from './value.ts'

export interface ResolveOptions {
  readonly env: Env
  readonly cwd: string
  readonly clock: Clock
  readonly platform: NodeJS.Platform
}

/** Never fails: what is wrong is said. */
export async function resolveSecret(binding: Binding, options: ResolveOptions): Promise<Looked> {
  const looked = await look(binding, options)
  if ('problem' in looked) return looked
  const why = whyNotValue(looked.value)
  return why === null ? looked : { problem: `its value ${why}` }
}

async function look({ source, secret_ref: ref }: Binding, options: ResolveOptions): Promise<Looked> {
  const { env, cwd } = options
  if (source === 'keychain') return lookInKeychain(ref, options)
  if (source === 'env') {
    const names = variablesOf(ref)
    const value = names.map((name) => env[name]).find((one) => one !== undefined && one !== '')
    return value === undefined ? { problem: `none of the variables ${names.join(', ')} is set` } : { value }
  }
  try {
    const path = secretsPath(env, cwd)
    const entry = readSecrets(path).get(ref)
    return entry ?? { problem: `${path} has no secret of this name (heimdall mcp secrets add ${ref})` }
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    return { problem: error.message }
  }
}

/** The variables that may hold a secret, the first one first. */
export function variablesOf(ref: string): readonly string[] {
  const capitals = ref.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_')
  return [...new Set([ref, capitals, `SUB_SECRET_${capitals}`])]
}
