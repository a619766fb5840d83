// The built dashboard, served as files: read from one folder, named by what is in it, and nothing above it.
import { readFileSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { isErrno } from '../../errors.ts'
import { contains } from '../../paths.ts'
import { pathOf } from './http-door.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.map': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
}

const MISSING = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Heimdall</title>
<h1>The dashboard is not built</h1><p>The hub runs, and its API with it. Build the page with: npm run build</p></html>`

/** Names with a hash in them never change; the page itself is asked for each time. */
export function servePage(dir: string, request: IncomingMessage, response: ServerResponse): void {
  const path = decodeURIComponent(pathOf(request))
  const wanted = join(dir, path)
  const file = contains(dir, wanted) ? read(wanted) : undefined
  if (file !== undefined) {
    const isHashed = path.startsWith('/assets/')
    // Compressed once, when it was built.
    const packed = takesBrotli(request) ? read(`${wanted}.br`) : undefined
    if (packed !== undefined) response.setHeader('Content-Encoding', 'br')
    response.setHeader('Vary', 'Accept-Encoding')
    send(request, response, 200, TYPES[extname(wanted)] ?? 'application/octet-stream', packed ?? file, isHashed)
    return
  }
  // Every screen is an address of its own, and the page knows which; only what looks like a file is missing.
  if (extname(path) !== '') send(request, response, 404, 'text/plain; charset=utf-8', Buffer.from('not found\n'), false)
  else send(request, response, 200, TYPES['.html'] ?? '', read(join(dir, 'index.html')) ?? Buffer.from(MISSING), false)
}

const takesBrotli = ({ headers }: IncomingMessage): boolean =>
  /(?:^|,)\s*br\s*(?:,|$)/.test(headers['accept-encoding'] ?? '')

function send(
  { method }: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  bytes: Buffer,
  isHashed: boolean,
): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': bytes.length,
    'Cache-Control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
  })
  response.end(method === 'HEAD' ? undefined : bytes)
}

/** Nothing for what is no plain file there. */
function read(path: string): Buffer | undefined {
  try {
    return statSync(path).isFile() ? readFileSync(path) : undefined
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EACCES', 'ERR_INVALID_ARG_VALUE'))
      return undefined
    throw error
  }
}
