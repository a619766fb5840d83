// The pins of the server that a shim was told to start.
import { createHash } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { KnownSecrets } from '../../known-secrets/known-secrets.ts'
import { withoutSecrets } from '../../known-secrets/stream-redactor.ts'
import { cutAtBytes } from '../../events/preview.ts'
import { REDACTED } from '../../events/redact.ts'
import { PIN_COMMAND_BYTES_MAX } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import { seeable } from '../../pins/difference.ts'
import { type PinNewsOptions, pinNews } from './pin-news.ts'
import { pinsPlace } from '../../pins/pins-file.ts'
import { ToolPins } from './tool-pins.ts'

export interface PinnedServer {
  readonly serverName: string
  readonly server:
    | { readonly kind: 'program'; readonly command: readonly string[] }
    | { readonly kind: 'remote'; readonly url: URL }
  readonly env: Env
  readonly cwd: string
  readonly clock: Clock
}

export function openPins(
  { serverName, server, env, cwd, clock }: PinnedServer,
  { own, ...telling }: Omit<PinNewsOptions, 'serverName'> & { readonly own: KnownSecrets | null },
): ToolPins {
  const words = server.kind === 'remote' ? [server.url.href] : server.command
  return new ToolPins({
    place: () => pinsPlace(env, cwd, serverName),
    reached: {
      text: cutAtBytes(seeable(telling.redact(words.join(' '))), PIN_COMMAND_BYTES_MAX),
      sha256: createHash('sha256').update(words.join('\0')).digest('hex'),
    },
    nowIso: () => new Date(clock.wallMs()).toISOString(),
    withoutSecrets: (text) => (own === null ? text : withoutSecrets(Buffer.from(text), own, REDACTED).toString()),
    news: pinNews({ serverName, ...telling }),
    note: telling.note,
  })
}
