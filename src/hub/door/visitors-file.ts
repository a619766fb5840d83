// The file that keeps browsers signed in over a restart of the hub: their public keys, and the hub's own key, which lets it prove itself to them. Nothing in it signs a browser in.
import { createPrivateKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto'
import { readFileIfThere, replaceFile } from '../../storage/atomic-file.ts'

export interface KeptVisitor {
  /** SHA-256 of the key. */
  readonly id: string
  /** Public key, SPKI in base64url. */
  readonly key: string
  readonly seenMs: number
}

interface VisitorsFile {
  readonly hubKey: KeyObject
  readonly visitors: readonly KeptVisitor[]
}

/** A new key and no browsers where the file is missing or invalid: then every browser needs a new link. */
export function readVisitors(path: string): VisitorsFile {
  const { hub_key, visitors } = parsed(readFileIfThere(path)?.toString('utf8') ?? '{}')
  if (typeof hub_key !== 'object' || hub_key === null || !Array.isArray(visitors))
    return { hubKey: newHubKey(), visitors: [] }
  return {
    hubKey: createPrivateKey({ key: hub_key as JsonWebKey, format: 'jwk' }),
    visitors: visitors.filter(isVisitor),
  }
}

/**
 * Encoded and read again: a key object that comes straight from `generateKeyPairSync` shares a lock with the job that
 * made it, and Node.js deadlocks when it collects that job while the key is exported.
 */
function newHubKey(): KeyObject {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { format: 'der', type: 'pkcs8' },
    publicKeyEncoding: { format: 'der', type: 'spki' },
  })
  return createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' })
}

export function keepVisitors(path: string, { hubKey, visitors }: VisitorsFile): void {
  replaceFile(path, `${JSON.stringify({ v: 1, hub_key: hubKey.export({ format: 'jwk' }), visitors })}\n`)
}

function parsed(text: string): { readonly hub_key?: unknown; readonly visitors?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

function isVisitor(value: unknown): value is KeptVisitor {
  if (typeof value !== 'object' || value === null) return false
  const { id, key, seenMs } = value as Partial<KeptVisitor>
  return typeof id === 'string' && typeof key === 'string' && typeof seenMs === 'number'
}
