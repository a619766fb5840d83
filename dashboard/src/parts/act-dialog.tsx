// A box that asks before something is done: what is to be filled in, one button that names the act, and why it could not be done.
import { type ReactNode, useState } from 'react'
import { HubError, post } from '../live/api.ts'
import { Button } from './controls.tsx'
import { Dialog } from './dialog.tsx'

interface Act<T> {
  readonly error: string | null
  readonly act: (path: string, body?: unknown) => void
  readonly reply: T | undefined
}

/** Sends, and keeps what came of it. */
export function useAct<T = unknown>(onDone?: () => void): Act<T> {
  const [error, setError] = useState<string | null>(null)
  const [reply, setReply] = useState<T | undefined>()
  const act = (path: string, body: unknown = {}): void =>
    void post<T>(path, body).then(
      (data) => {
        setReply(data)
        setError(null)
        onDone?.()
      },
      (reason: unknown) => {
        if (!(reason instanceof HubError)) throw reason
        setError(`${reason.code}: ${reason.message} ${reason.hint ?? ''}`)
      },
    )
  return { error, act, reply }
}

interface ActDialogProps {
  readonly title: string
  /** Names the act, as every button does. */
  readonly verb: string
  /** Blue starts something; rose takes something away. */
  readonly kind: 'start' | 'harm'
  readonly isReady: boolean
  readonly error: string | null
  readonly onAct: () => void
  readonly onClose: () => void
  /** Beside the buttons. */
  readonly beside?: ReactNode
  /** What is to be filled in. */
  readonly children: ReactNode
}

export function ActDialog({
  title,
  verb,
  kind,
  isReady,
  error,
  onAct,
  onClose,
  beside,
  children,
}: ActDialogProps): ReactNode {
  return (
    <Dialog label={title} onClose={onClose}>
      <form
        className="keys"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) onAct()
        }}
      >
        <h2>{title}</h2>
        {children}
        {error !== null && (
          <p className="is-clash" role="alert">
            ✕ {error}
          </p>
        )}
        <div className="row">
          <button type="submit" className={`button ${kind}`} disabled={!isReady}>
            {verb}
          </button>
          {beside}
          <Button kind="plain" onPress={onClose}>
            Leave it
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
