// Before anything is drawn: the colours that were chosen here.
try {
  const theme = localStorage.getItem('theme');
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // storage is forbidden: as the system has it
}
