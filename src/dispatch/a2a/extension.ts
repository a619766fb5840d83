// The extension of A2A that the three messages travel under, and the parts of a message that carry them.
import type { Message, Part } from '@a2a-js/sdk'

/** Its name for good: what breaks it gets another. A peer that shows another version is spoken to as one that shows none. */
export const EXTENSION = 'https://heimdall-agents.dev/a2a/ext/fleet-handshake/v2'

/** Of the artifact that a result is in. */
export const RESULT_ARTIFACT = 'task-result'

/** Of a reply that is too large to stand in it. */
export const REPLY_ARTIFACT = 'reply'

export const urlPart = (url: string, mediaType: string): Part => ({
  content: { $case: 'url', value: url },
  metadata: undefined,
  filename: '',
  mediaType,
})

export const textPart = (text: string): Part => ({
  content: { $case: 'text', value: text },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
})

export const dataPart = (value: object): Part => ({
  content: { $case: 'data', value },
  metadata: undefined,
  filename: '',
  mediaType: 'application/json',
})

/** The kind of a message stands inside of it: the media type of a part does not survive 0.3. */
export function dataOf(parts: readonly Part[], type: string): Record<string, unknown> | undefined {
  for (const { content } of parts) {
    if (content?.$case !== 'data') continue
    const value: unknown = content.value
    if (typeof value === 'object' && value !== null && (value as { type?: unknown }).type === type)
      return value as Record<string, unknown>
  }
  return undefined
}

export const textOf = ({ parts }: Pick<Message, 'parts'>): string =>
  parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('\n')
