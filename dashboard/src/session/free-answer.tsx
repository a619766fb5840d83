// A line typed into one agent's session. Its parent keys it by agent, so that a draft never reaches another one.
import { type ReactNode, useState } from 'react'
import type { ActReply } from '../../../src/hub/contract.ts'
import { HubError, post, segment } from '../live/api.ts'
import { useWhyOff } from '../needs-you/answers.tsx'
import { Button } from '../parts/controls.tsx'

export function FreeAnswer({ agent, isAsked }: { readonly agent: string; readonly isAsked: boolean }): ReactNode {
  const [text, setText] = useState('')
  const [said, setSaid] = useState<string | null>(null)
  const whyOff = useWhyOff()
  const send = async (): Promise<void> => {
    try {
      const reply = await post<ActReply>(`agents/${segment(agent)}/input`, { text, keys: ['enter'] })
      setSaid(`✓ ${reply.text}`)
      setText('')
    } catch (error) {
      if (!(error instanceof HubError)) throw error
      setSaid(`✕ ${error.code}: ${error.message}`)
    }
  }
  const prompt = isAsked ? `Answer ${agent} in your own words` : `Type into the session of ${agent}`
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (text !== '' && whyOff === null) void send()
      }}
    >
      <label className="field">
        <span className="hidden-text">{prompt}</span>
        <input
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder={prompt}
          disabled={whyOff !== null}
        />
        <Button size="small" after="↵" isOff={text === '' || whyOff !== null} onPress={() => void send()}>
          Send
        </Button>
      </label>
      {said !== null && (
        <p className="meta" role="status">
          {said}
        </p>
      )}
    </form>
  )
}
