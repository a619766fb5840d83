// What commands ask of the hub that runs: over its own address, with the secret that its file has.
import { request } from 'node:http'
import { HeimdallError } from '../errors.ts'
import type { RefusalReply } from './contract.ts'
import { type HubFile, notRunning } from './door/hub-file.ts'

export async function linkFrom(hub: HubFile): Promise<string> {
  const { key } = answerIn(await post(hub, '/control/link', {})) as { readonly key: string }
  return `${hub.url}/#key=${key}`
}

/** Has the hub show the project of a folder as well. */
export async function showProject(hub: HubFile, folder: string): Promise<{ name: string; isNew: boolean }> {
  return answerIn(await post(hub, '/control/projects', { folder })) as { name: string; isNew: boolean }
}

interface Answer {
  readonly status: number
  readonly text: string
}

function post({ port, secret }: HubFile, path: string, body: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body)
    const asking = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        agent: false,
        headers: {
          Authorization: `Bearer ${secret}`,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(text),
        },
      },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') })
        })
        response.on('error', reject)
      },
    )
    asking.on('error', (error) => reject(notRunning(error)))
    asking.end(text)
  })
}

function answerIn({ status, text }: Answer): unknown {
  const value: unknown = JSON.parse(text)
  if (status === 200) return value
  const { error } = value as RefusalReply
  throw new HeimdallError(
    error.code === 'PERSON_REQUIRED' ? 'PERSON_REQUIRED' : 'HUB_NOT_RUNNING',
    error.message,
    error.hint === null ? {} : { hint: error.hint },
  )
}
