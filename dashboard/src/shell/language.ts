// Browsers that are started without a locale call their language `en-US@posix`, which is none: whoever formats numbers by it fails.
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true })
}
