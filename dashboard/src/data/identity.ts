// Who this browser is to the hub, and who the hub is to it. The hub proves itself before anything else is sent; the browser's private key cannot be read by any script, and what it signs is for one start of the hub at this address.
import type { HelloReply, LoginReply, PassReply } from '../../../src/hub/contract.ts'
import { HubError, hubError } from './hub-error.ts'

interface Identity {
  readonly id: string
  readonly key: CryptoKey
  /** Public key of the hub. */
  readonly hub: CryptoKey
}

/** One request without a pass; throws what the hub refused. */
export type Send = <T>(path: string, query: Readonly<Record<string, string>>, body?: unknown) => Promise<T>

/** Another program listens at the address, or a hub that has lost the key that this browser knows. */
const notTheHub = (): HubError =>
  hubError(
    'HUB_NOT_PROVED',
    `The program at ${location.host} did not prove that it is your hub.`,
    'heimdall open',
    'Agents go on without it.',
  )

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const
const MAC = { name: 'HMAC', hash: 'SHA-256' } as const

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** Signs in with the key of a link. The key stays here: what is sent is good for this address and for one time. */
export async function redeem(key: string, send: Send): Promise<void> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(CURVE, false, ['sign', 'verify'])
  const visitor = base64url(await crypto.subtle.exportKey('spki', publicKey))
  const secret = await crypto.subtle.importKey('raw', bytesOf(key), MAC, false, ['sign', 'verify'])
  const reply = await send<LoginReply>(
    'login',
    {},
    {
      link: await sha256(key),
      visitor,
      proof: base64url(await crypto.subtle.sign(MAC, secret, bytesOf(`heimdall login\n${location.host}\n${visitor}`))),
    },
  )
  const welcome = bytesOf(`heimdall welcome\n${location.host}\n${visitor}\n${reply.hub}`)
  if (!(await crypto.subtle.verify(MAC, secret, fromBase64url(reply.proof), welcome))) throw notTheHub()
  const hub = await crypto.subtle.importKey('spki', fromBase64url(reply.hub), CURVE, true, ['verify'])
  await keep({ id: await sha256(visitor), key: privateKey, hub })
}

/** A pass, from a hub that has proved itself. Undefined for a browser that is not signed in. */
export async function passFrom(send: Send): Promise<string | undefined> {
  const identity = await stored()
  if (identity === undefined) return undefined
  const instance = await provedHub(identity, send)
  const signed = bytesOf(`heimdall visitor\n${location.host}\n${instance}`)
  const proof = base64url(await crypto.subtle.sign(SIGNATURE, identity.key, signed))
  return (await send<PassReply>('pass', {}, { visitor: identity.id, proof })).pass
}

/** Resolves if the hub answers at this moment. */
export async function proveHub(send: Send): Promise<void> {
  const identity = await stored()
  if (identity !== undefined) await provedHub(identity, send)
}

async function provedHub({ hub }: Identity, send: Send): Promise<string> {
  const nonce = base64url(crypto.getRandomValues(new Uint8Array(32)).buffer)
  const { instance, proof } = await send<HelloReply>('hello', { nonce }).catch((error: unknown) => {
    // A hub answers this request to every browser: a refusal comes from another program.
    throw error instanceof HubError && error.code !== 'HUB_NOT_REACHED' ? notTheHub() : error
  })
  const signed = bytesOf(`heimdall hub\n${location.host}\n${nonce}\n${instance}`)
  if (!(await crypto.subtle.verify(SIGNATURE, hub, fromBase64url(proof), signed))) throw notTheHub()
  return instance
}

const base64url = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

/** Empty for anything else, which another program may send: no signature is that short. */
function fromBase64url(text: unknown): Uint8Array<ArrayBuffer> {
  if (typeof text !== 'string' || !/^[\w-]*$/.test(text) || text.length % 4 === 1) return new Uint8Array()
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))
}

async function sha256(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(text)))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Where a browser keeps nothing, the sign-in is good until the page is loaded again. */
let unstored: Identity | undefined

async function keep(identity: Identity): Promise<void> {
  unstored = identity
  await inStore('readwrite', (store) => store.put(identity, 'identity')).catch((error: unknown) => {
    if (!(error instanceof DOMException)) throw error
  })
}

/** Read each time: another tab may have signed in since. */
async function stored(): Promise<Identity | undefined> {
  const found = await inStore('readonly', (store) => store.get('identity')).catch((error: unknown) => {
    if (unstored === undefined) throw error
  })
  return (found as Identity | undefined) ?? unstored
}

/** Storage that is switched off or full. Any other failure of storage may pass, and does not mean that this browser is signed out. */
const NO_STORAGE: ReadonlySet<string> = new Set(['SecurityError', 'InvalidStateError', 'QuotaExceededError'])

/** Undefined without storage. Resolves when the transaction is committed: a page that is left before loses what it wrote. */
async function inStore(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  try {
    const db = await opened()
    try {
      const transaction = db.transaction('sign-in', mode)
      const request = act(transaction.objectStore('sign-in'))
      await new Promise<void>((resolve, reject) => {
        transaction.addEventListener('complete', () => resolve())
        transaction.addEventListener('abort', () => reject(transaction.error ?? new DOMException('', 'AbortError')))
      })
      return request.result
    } finally {
      db.close()
    }
  } catch (error) {
    if (error instanceof DOMException && NO_STORAGE.has(error.name)) return undefined
    throw error
  }
}

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('heimdall', 1)
    opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore('sign-in'))
    opening.addEventListener('success', () => resolve(opening.result))
    opening.addEventListener('error', () => reject(opening.error ?? new DOMException('', 'UnknownError')))
  })
}
