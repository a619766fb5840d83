// Buttons, keys, chips, segments: the controls of the design's twelfth picture.
import { type ReactNode, useEffect, useState } from 'react'
import { Icon, type IconName } from './icons.tsx'

export function Key({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <kbd className="key" aria-hidden="true">
      {children}
    </kbd>
  )
}

interface ButtonProps {
  /** Amber answers a wait, blue starts something, rose asks again before it acts. */
  readonly kind?: 'answer' | 'start' | 'harm' | 'plain'
  readonly size?: 'small' | 'large'
  readonly icon?: IconName
  readonly before?: string
  readonly after?: string
  readonly isOff?: boolean
  /** Disables the button, and says why. */
  readonly whyDisabled?: string | null
  readonly title?: string
  readonly label?: string
  readonly onPress: () => void
  readonly children?: ReactNode
}

export function Button({
  kind,
  size,
  icon,
  before,
  after,
  isOff = false,
  whyDisabled = null,
  title,
  label,
  onPress,
  children,
}: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      className={['button', kind, size].filter(Boolean).join(' ')}
      disabled={isOff || whyDisabled !== null}
      title={whyDisabled ?? title}
      aria-label={label}
      onClick={onPress}
    >
      {before !== undefined && (
        <kbd className="key before" aria-hidden="true">
          {before}
        </kbd>
      )}
      {icon !== undefined && <Icon name={icon} size={14} />}
      {children}
      {after !== undefined && <Key>{after}</Key>}
    </button>
  )
}

export function Chip({
  isOn,
  onPress,
  children,
}: {
  readonly isOn: boolean
  readonly onPress: () => void
  readonly children: ReactNode
}): ReactNode {
  return (
    <button type="button" className="chip" aria-pressed={isOn} onClick={onPress}>
      {children}
    </button>
  )
}

export interface SegmentsProps<T extends string> {
  readonly label: string
  readonly of: readonly {
    readonly value: T
    readonly text: string
    readonly icon?: IconName
    readonly title?: string
  }[]
  readonly chosen: T
  readonly onChoose: (value: T) => void
}

export function Segments<T extends string>({ label, of, chosen, onChoose }: SegmentsProps<T>): ReactNode {
  return (
    <div className="segments" role="group" aria-label={label}>
      {of.map(({ value, text, icon, title }) => (
        <button key={value} type="button" title={title} aria-pressed={value === chosen} onClick={() => onChoose(value)}>
          {icon !== undefined && <Icon name={icon} size={13} />}
          {text}
        </button>
      ))}
    </div>
  )
}

/** A word that is copied when it is pressed, and says so for a moment. */
export function Copy({
  text,
  label,
  isCommand = false,
  className = 'button plain small',
}: {
  readonly text: string
  readonly label?: string
  /** With the prompt before it, which is not copied. */
  readonly isCommand?: boolean
  readonly className?: string | undefined
}): ReactNode {
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = (): void => void navigator.clipboard.writeText(text).then(() => setIsCopied(true))
  return (
    <button type="button" className={className} onClick={copy} aria-label={`Copy: ${label ?? text}`}>
      <span className="cut">
        {isCommand && <span className="quiet">$ </span>}
        {label ?? text}
      </span>
      <Icon name={isCopied ? 'check' : 'copy'} size={13} />
      <span className="hidden-text" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  )
}
