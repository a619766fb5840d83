// Answering a wait in place: the host's own choices in its order, the amber one first, and the outcome.
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { ActReply, WaitCard, WaitChoice } from '../../../src/hub/contract.ts'
import { Button } from '../components/controls.tsx'
import { clock } from '../components/format.ts'
import { useKeys } from '../shell/keys.tsx'
import { post, segment } from '../data/client.ts'
import type { HubError } from '../data/hub-error.ts'
import { useStore } from '../data/store.ts'

type Step = { readonly at: 'choose' } | { readonly at: 'write' | 'confirm'; readonly choice: WaitChoice }

interface Answer {
  readonly choice: WaitChoice
  readonly text?: string
}

/** Why nothing can be changed now, or null. */
export function useWhyDisabled(): string | null {
  const connection = useStore((state) => state.connection)
  const isReadOnly = useStore((state) => state.hub?.read_only === true)
  if (connection.status !== 'live') return 'The hub is not reached; nothing can be answered until it is back'
  return isReadOnly ? 'This hub was started with --read-only' : null
}

/** Keys go into a session as from any terminal: the record has the answer, but not who typed it. */
function recordedAs({ outcome, by }: ActReply): string {
  switch (outcome) {
    case 'recorded':
      return `by ${by.name}, recorded as human`
    case 'sent':
      return `typed by ${by.name}, whom no record names`
    case 'snoozed':
      return `snoozed by ${by.name}, not recorded`
    case 'gone':
      return 'nothing recorded'
  }
}

interface AnswersProps {
  readonly wait: WaitCard
  /** The wait is over: the outcome of an answer is still shown, and no further one is taken. */
  readonly isOver?: boolean
  /** An answer is being sent. */
  readonly onAnswer?: (waitId: string) => void
  /** The buttons alone, as on a phone. */
  readonly isShort?: boolean
  readonly withKeys?: boolean
}

/** Its parent keys it by the wait, so that neither a draft nor an outcome moves to another one. */
export function Answers({ wait, isOver = false, onAnswer, isShort = false, withKeys = true }: AnswersProps): ReactNode {
  const [step, setStep] = useState<Step>({ at: 'choose' })
  const [text, setText] = useState('')
  const whyDisabled = useWhyDisabled()
  const { mutate, data, error, isPending, variables } = useMutation({
    mutationFn: ({ choice, text: words }: Answer) =>
      post<ActReply>(`waits/${segment(wait.wait_id)}/answer`, {
        answer_id: choice.answer_id,
        ...(words !== undefined && { text: words }),
      }),
  })
  const send = (answer: Answer): void => {
    setStep({ at: 'choose' })
    onAnswer?.(wait.wait_id)
    mutate(answer)
  }
  const press = (choice: WaitChoice): void => {
    if (whyDisabled !== null) return
    if (choice.needs_text) setStep({ at: 'write', choice })
    else if (choice.asks_first) setStep({ at: 'confirm', choice })
    else send({ choice })
  }
  const choices = wait.answers.slice(0, 9)
  useKeys(
    withKeys && !isOver && step.at === 'choose' && !isPending && data === undefined
      ? Object.fromEntries(choices.map((choice, index) => [String(index + 1), () => press(choice)]))
      : {},
  )

  if (data !== undefined)
    return (
      <p className="answer-outcome" role="status">
        {data.outcome === 'gone' ? 'Answered otherwise in the meantime. ' : '✓ '}
        {data.text}{' '}
        <span className="quiet">
          {recordedAs(data)}, {clock(data.at, Date.parse(data.at))}
        </span>
      </p>
    )
  if (isOver && error !== null) return <Refused error={error} />
  if (isOver && !isPending) return null
  if (step.at === 'write')
    return (
      <form
        className="answer-text"
        onSubmit={(event) => {
          event.preventDefault()
          send({ choice: step.choice, text })
        }}
      >
        <label className="field grow">
          <span className="hidden-text">{step.choice.label}</span>
          <input
            autoFocus
            value={text}
            maxLength={16_384}
            placeholder={step.choice.label}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') return
              event.stopPropagation()
              event.preventDefault()
              setStep({ at: 'choose' })
            }}
          />
          <Button size="small" after="↵" isOff={text === ''} onPress={() => send({ choice: step.choice, text })}>
            Send
          </Button>
        </label>
        <Button kind="plain" onPress={() => setStep({ at: 'choose' })}>
          Back
        </Button>
      </form>
    )
  if (step.at === 'confirm')
    return (
      <div className="answer-buttons" role="group" aria-label="Sure?">
        <span className="second">{step.choice.label}: it is recorded and cannot be taken back.</span>
        <Button kind="harm" onPress={() => send({ choice: step.choice })}>
          {step.choice.label}
        </Button>
        <Button onPress={() => setStep({ at: 'choose' })}>Back</Button>
      </div>
    )
  return (
    <div className={isShort ? 'answer-buttons short' : 'answer-buttons'} role="group" aria-label="Answers">
      {choices.map((choice, index) => (
        <Button
          key={choice.answer_id}
          size="large"
          {...(choice.is_first && { kind: 'answer' as const })}
          before={String(index + 1)}
          isOff={isPending}
          whyDisabled={whyDisabled}
          onPress={() => press(choice)}
        >
          <span className="answer-label">
            <bdi>
              {isPending && variables.choice.answer_id === choice.answer_id ? 'Sending' : choice.label}
              {choice.asks_first && !choice.label.endsWith('…') && '…'}
            </bdi>
            {choice.note !== null && <small>{choice.note}</small>}
          </span>
        </Button>
      ))}
      {choices.length === 0 && <span className="second">Answer it in its session.</span>}
      {error !== null && <Refused error={error} />}
      {whyDisabled !== null && <p className="meta">{whyDisabled}.</p>}
    </div>
  )
}

const Refused = ({ error }: { readonly error: HubError }): ReactNode => (
  <p className="is-clash" role="alert">
    ✕ {error.code}: {error.message} {error.hint}
  </p>
)
