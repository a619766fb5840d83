// A shim whose server has secrets bound, from a store that the test writes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './project.ts'
import { type ShimClient, type ShimSetup, startShim } from './shim-client.ts'

export interface BoundSecret {
  readonly value: string
  readonly redact?: boolean
}

/** The variable that the nth secret is bound to. */
export const variable = (n: number): string => `SECRET_${n}`

/** Each of the secrets is `ref_N` in the store, and `SECRET_N` in the server's environment. */
export function startWithSecrets(secrets: readonly BoundSecret[], setup: ShimSetup = {}): ShimClient {
  const folder = temporaryFolder()
  const store = join(folder, 'store.json')
  const bindings = join(folder, 'bindings.json')
  writeFileSync(store, JSON.stringify(Object.fromEntries(secrets.map(({ value }, n) => [`ref_${n}`, { value }]))), {
    mode: 0o600,
  })
  writeFileSync(
    bindings,
    JSON.stringify(
      secrets.map(({ redact }, n) => ({ inject_as: variable(n), secret_ref: `ref_${n}`, source: 'file', redact })),
    ),
  )
  return startShim({
    ...setup,
    flags: [`--secret-bindings=${bindings}`, ...(setup.flags ?? [])],
    env: { SUB_SECRETS_PATH: store, ...setup.env },
  })
}
