// Answering a wait in place: the host's own choices in its order, the amber one first, and what became of it.
import { type ReactNode, useState } from 'react'
import type { ActReply, WaitCard, WaitChoice } from '../../../src/hub/contract.ts'
import { HubError, post, segment } from '../live/api.ts'
import { useWatch } from '../live/hooks.ts'
import { Button } from '../parts/controls.tsx'
import { clock } from '../parts/format.ts'
import { useKeys } from '../shell/keys.ts'

type Step =
  | { readonly at: 'choose' }
  | { readonly at: 'write' | 'ask again'; readonly answer: WaitChoice }
  | { readonly at: 'sending'; readonly answer: WaitChoice }
  | { readonly at: 'done'; readonly reply: ActReply }
  | { readonly at: 'refused'; readonly error: HubError }

/** Why nothing can be answered now, or null. */
export function useWhyOff(): string | null {
  const connection = useWatch((watch) => watch.connection)
  const isReadOnly = useWatch((watch) => watch.hub?.read_only === true)
  if (connection.status !== 'live') return 'The hub is not reached; nothing can be answered until it is back'
  return isReadOnly ? 'This hub was started with --read-only' : null
}

/** Keys go into a session as from any terminal: that it went on is on record, but not who typed. */
function onRecord({ outcome, by }: ActReply): string {
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
  /** It waits no more: what became of an answer is still said, and none is taken. */
  readonly isOver?: boolean
  /** On its way, before anything else is known of it. */
  readonly onAnswer?: (waitId: string) => void
  /** The buttons alone, as on a phone. */
  readonly isShort?: boolean
  readonly withKeys?: boolean
}

/** Its parent keys it by the wait, so that neither a draft nor an outcome moves on to another one. */
export function Answers({ wait, isOver = false, onAnswer, isShort = false, withKeys = true }: AnswersProps): ReactNode {
  const [step, setStep] = useState<Step>({ at: 'choose' })
  const [text, setText] = useState('')
  const whyOff = useWhyOff()

  const send = async (answer: WaitChoice, words?: string): Promise<void> => {
    setStep({ at: 'sending', answer })
    onAnswer?.(wait.wait_id)
    try {
      const body = { answer_id: answer.answer_id, ...(words !== undefined && { text: words }) }
      setStep({ at: 'done', reply: await post<ActReply>(`waits/${segment(wait.wait_id)}/answer`, body) })
    } catch (error) {
      if (!(error instanceof HubError)) throw error
      setStep({ at: 'refused', error })
    }
  }
  const press = (answer: WaitChoice): void => {
    if (whyOff !== null) return
    if (answer.needs_text) setStep({ at: 'write', answer })
    else if (answer.asks_first) setStep({ at: 'ask again', answer })
    else void send(answer)
  }
  const choices = wait.answers.slice(0, 9)
  useKeys(
    withKeys && !isOver && step.at === 'choose'
      ? Object.fromEntries(choices.map((answer, index) => [String(index + 1), () => press(answer)]))
      : {},
  )

  if (step.at === 'done')
    return (
      <p className="answer-outcome" role="status">
        {step.reply.outcome === 'gone' ? 'Answered otherwise in the meantime. ' : '✓ '}
        {step.reply.text}{' '}
        <span className="quiet">
          {onRecord(step.reply)}, {clock(step.reply.at, Date.parse(step.reply.at))}
        </span>
      </p>
    )
  if (isOver && step.at === 'refused') return <Refused error={step.error} />
  if (isOver && step.at !== 'sending') return null
  if (step.at === 'write')
    return (
      <form
        className="answer-text"
        onSubmit={(event) => {
          event.preventDefault()
          void send(step.answer, text)
        }}
      >
        <label className="field grow">
          <span className="hidden-text">{step.answer.label}</span>
          <input
            autoFocus
            value={text}
            maxLength={16_384}
            placeholder={step.answer.label}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') return
              event.stopPropagation()
              event.preventDefault()
              setStep({ at: 'choose' })
            }}
          />
          <Button size="small" after="↵" isOff={text === ''} onPress={() => void send(step.answer, text)}>
            Send
          </Button>
        </label>
        <Button kind="plain" onPress={() => setStep({ at: 'choose' })}>
          Back
        </Button>
      </form>
    )
  if (step.at === 'ask again')
    return (
      <div className="answer-buttons" role="group" aria-label="Sure?">
        <span className="second">{step.answer.label}: it is recorded and cannot be taken back.</span>
        <Button kind="harm" onPress={() => void send(step.answer)}>
          {step.answer.label}
        </Button>
        <Button onPress={() => setStep({ at: 'choose' })}>Back</Button>
      </div>
    )
  return (
    <div className={isShort ? 'answer-buttons short' : 'answer-buttons'} role="group" aria-label="Answers">
      {choices.map((answer, index) => (
        <Button
          key={answer.answer_id}
          size="large"
          {...(answer.is_first && { kind: 'answer' as const })}
          before={String(index + 1)}
          isOff={whyOff !== null || step.at === 'sending'}
          {...(whyOff !== null && { title: whyOff })}
          onPress={() => press(answer)}
        >
          <span className="answer-label">
            <bdi>
              {step.at === 'sending' && step.answer === answer ? 'Sending' : answer.label}
              {answer.asks_first && !answer.label.endsWith('…') && '…'}
            </bdi>
            {answer.note !== null && <small>{answer.note}</small>}
          </span>
        </Button>
      ))}
      {choices.length === 0 && <span className="second">Answer it in its session.</span>}
      {step.at === 'refused' && <Refused error={step.error} />}
      {whyOff !== null && <p className="meta">{whyOff}.</p>}
    </div>
  )
}

const Refused = ({ error }: { readonly error: HubError }): ReactNode => (
  <p className="is-clash" role="alert">
    ✕ {error.code}: {error.message} {error.hint}
  </p>
)
