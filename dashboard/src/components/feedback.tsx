// What a part shows while it has no data: loading, empty, failed. Never larger than the part itself.
import type { ErrorComponentProps } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import type { HubError } from '../data/hub-error.ts'
import { Copy } from './controls.tsx'
import { Icon, type IconName } from './icons.tsx'

/** The shape at once; a spinner only after a second. */
export function Loading({ what }: { readonly what: string }): ReactNode {
  const [isLong, setIsLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsLong(true), 1_000)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className="skeleton" role="status" aria-label={`Loading ${what}`}>
      <i />
      <i />
      <i />
      {isLong && (
        <span className="row quiet">
          <span className="spinner" />
          Loading {what}
        </span>
      )}
    </div>
  )
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <b>{title}</b>
      {children}
    </div>
  )
}

export function Banner({
  kind,
  icon,
  title,
  children,
  action,
}: {
  readonly kind?: 'harm'
  readonly icon: IconName
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}): ReactNode {
  return (
    <div className={`banner ${kind ?? ''}`} role={kind === 'harm' ? 'alert' : 'status'}>
      <span className={kind === 'harm' ? 'is-clash' : ''}>
        <Icon name={icon} size={14} />
      </span>
      <span className="grow">
        <b>{title}</b> {children}
      </span>
      {action}
    </div>
  )
}

const sentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`

/** Why one part failed: code, what still works, the command that mends it. */
export function Failed({ what, error }: { readonly what: string; readonly error: HubError }): ReactNode {
  return (
    <Banner
      kind="harm"
      icon="cross"
      title={`${what}: ${error.code}.`}
      action={error.hint !== null && <Copy text={error.hint} className="button small" />}
    >
      {sentence(error.message)} {error.stillWorks}
    </Banner>
  )
}

/** The data of a query, also when it is stale; before that, that it loads or why it failed. */
export function QueryPart<T>({
  what,
  query: { data, error },
  children,
}: {
  readonly what: string
  readonly query: { readonly data: T | undefined; readonly error: HubError | null }
  readonly children: (data: T) => ReactNode
}): ReactNode {
  if (data !== undefined) return children(data)
  return error === null ? <Loading what={what} /> : <Failed what={`No ${what}`} error={error} />
}

/** A screen that throws while it renders does not take the others with it. */
export function ScreenError({ error }: ErrorComponentProps): ReactNode {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  return (
    <Banner kind="harm" icon="cross" title={`This screen cannot be drawn: ${name}.`}>
      {message} The other screens work; loading the page again may help here.
    </Banner>
  )
}
