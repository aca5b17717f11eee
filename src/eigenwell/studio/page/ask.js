// One question at a time, above the tools, with its answers as buttons. It goes when it is answered, or overtaken.

import { element, write } from "./answer.js";
import { announce, hint } from "./notify.js";

const $ = (id) => document.getElementById(id);
let about = null;

/** `answers`: [[words, act]]; `topic` names what it is about, so that it can be taken back. */
export function ask(topic, words, answers) {
  about = topic;
  write("ask-words", words);
  $("ask-answers").replaceChildren(...answers.map(([label, act], k) => {
    const button = element("button", { type: "button", class: k ? "link" : "primary" }, label);
    button.addEventListener("click", () => {
      unask(topic);
      act?.();
    });
    return button;
  }));
  $("ask").hidden = false;
  hint("", 0);
  announce(words);
}

export function unask(topic) {
  if (topic !== undefined && topic !== about) return;
  about = null;
  $("ask").hidden = true;
}

export const asked = () => about;
