// A line typed into one agent's session. Its parent keys it by agent, so that a draft never reaches another one.
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { ActReply } from '../../../src/hub/contract.ts'
import { useWhyDisabled } from '../needs-you/answers.tsx'
import { Button } from '../components/controls.tsx'
import { post, segment } from '../data/client.ts'

export function FreeAnswer({ agent, isAsked }: { readonly agent: string; readonly isAsked: boolean }): ReactNode {
  const [text, setText] = useState('')
  const whyDisabled = useWhyDisabled()
  const { mutate, data, error } = useMutation({
    mutationFn: () => post<ActReply>(`agents/${segment(agent)}/input`, { text, keys: ['enter'] }),
    onSuccess: () => setText(''),
  })
  const prompt = isAsked ? `Answer ${agent} in your own words` : `Type into the session of ${agent}`
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (text !== '' && whyDisabled === null) mutate()
      }}
    >
      <label className="field">
        <span className="hidden-text">{prompt}</span>
        <input
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder={prompt}
          disabled={whyDisabled !== null}
        />
        <Button size="small" after="↵" isOff={text === ''} whyDisabled={whyDisabled} onPress={() => mutate()}>
          Send
        </Button>
      </label>
      {(data !== undefined || error !== null) && (
        <p className="meta" role="status">
          {error === null ? `✓ ${data.text}` : `✕ ${error.code}: ${error.message}`}
        </p>
      )}
    </form>
  )
}
