// Files to take home: some are made here, the others by the server.

const KINDS = { csv: "text/csv", py: "text/x-python", svg: "image/svg+xml" };

export function download(name, content, kind = KINDS[name.split(".").pop()]) {
  const blob = content instanceof Blob ? content : new Blob([content], { type: kind });
  const address = URL.createObjectURL(blob);
  follow(address, name);
  // The browser has its own hold on the bytes once the click is handled; a while is generous.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

export function follow(address, name) {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}

/** A link the server made: only one of its own, never an address elsewhere. */
export function ownAddress(given) {
  const address = new URL(String(given), location.href);
  return address.origin === location.origin ? address.href : null;
}

export async function copy(words, node = null) {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    // No clipboard without a secure address: mark the lines, so that Ctrl+C is enough.
    if (node) getSelection().selectAllChildren(node);
    return false;
  }
}

export async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  // In pieces, since a call takes a limited number of arguments.
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}
