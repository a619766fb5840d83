// What commands ask of the running hub, over its unix socket. Nothing goes to the port: after a kill another program may listen there.
import { closeSync, openSync } from 'node:fs'
import { request } from 'node:http'
import { HeimdallError, isErrno } from '../errors.ts'
import type { RefusalReply } from './contract.ts'
import { controlPath, hubFilePath, notRunning } from './door/hub-file.ts'

export async function linkFrom(stateDir: string): Promise<string> {
  // Open to write while it asks: this shows the hub which process it is.
  const shown = openHubFile(stateDir)
  try {
    const { link } = (await post(stateDir, '/control/link', { pid: process.pid })) as { readonly link: string }
    return link
  } finally {
    closeSync(shown)
  }
}

function openHubFile(stateDir: string): number {
  try {
    return openSync(hubFilePath(stateDir), 'r+')
  } catch (error) {
    throw isErrno(error, 'ENOENT') ? notRunning(error) : error
  }
}

/** Has the hub show the project of a folder as well. */
export async function showProject(stateDir: string, folder: string): Promise<{ name: string; isNew: boolean }> {
  return (await post(stateDir, '/control/projects', { folder })) as { name: string; isNew: boolean }
}

function post(stateDir: string, path: string, body: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body)
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }
    const options = { socketPath: controlPath(stateDir), path, method: 'POST', agent: false, headers }
    const asking = request(options, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => {
        const reply: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'))
        if (response.statusCode === 200) resolve(reply)
        else reject(refusal(reply as RefusalReply))
      })
      response.on('error', reject)
    })
    asking.on('error', (error) => reject(notRunning(error)))
    asking.end(text)
  })
}

function refusal({ error }: RefusalReply): HeimdallError {
  return new HeimdallError(
    error.code === 'PERSON_REQUIRED' ? 'PERSON_REQUIRED' : 'HUB_NOT_RUNNING',
    error.message,
    error.hint === null ? {} : { hint: error.hint },
  )
}
