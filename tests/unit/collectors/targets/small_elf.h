#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace mempulse {

inline constexpr char kSmallElfBuildId[] = "0123456789abcdef0123456789abcdef01234567";

struct SmallElfOptions {
  bool segments = false;
  bool sections = false;
  bool other_note_first = false;
  uint32_t alignment = 4;
};

inline void AppendNote(uint32_t type, const std::vector<uint8_t>& content, uint32_t alignment,
                       std::vector<uint8_t>* out) {
  const Elf64_Nhdr header = {4, static_cast<Elf64_Word>(content.size()), type};
  const auto* bytes = reinterpret_cast<const uint8_t*>(&header);
  out->insert(out->end(), bytes, bytes + sizeof(header));
  for (char c : {'G', 'N', 'U', '\0'}) out->push_back(static_cast<uint8_t>(c));
  out->insert(out->end(), content.begin(), content.end());
  while (out->size() % alignment != 0) out->push_back(0);
}

inline std::vector<uint8_t> SmallElfNotes(const SmallElfOptions& options) {
  std::vector<uint8_t> notes;
  if (options.other_note_first) {
    AppendNote(NT_GNU_PROPERTY_TYPE_0, std::vector<uint8_t>(20, 0xab), options.alignment, &notes);
  }
  const std::string hex = kSmallElfBuildId;
  std::vector<uint8_t> id;
  for (size_t i = 0; i < hex.size(); i += 2)
    id.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  AppendNote(NT_GNU_BUILD_ID, id, options.alignment, &notes);
  return notes;
}

// File header, one segment header, one section header, notes; the tables are announced as `options` say.
template <typename File, typename Segment, typename Section>
std::vector<uint8_t> SmallElf(uint8_t elf_class, const SmallElfOptions& options) {
  const std::vector<uint8_t> notes = SmallElfNotes(options);
  const size_t notes_at = sizeof(File) + sizeof(Segment) + sizeof(Section);
  File file{};
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = elf_class;
  file.e_ident[EI_DATA] = ELFDATA2LSB;
  file.e_phoff = sizeof(File);
  file.e_phentsize = sizeof(Segment);
  file.e_phnum = options.segments ? 1 : 0;
  file.e_shoff = sizeof(File) + sizeof(Segment);
  file.e_shentsize = sizeof(Section);
  file.e_shnum = options.sections ? 1 : 0;
  Segment segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = static_cast<decltype(segment.p_offset)>(notes_at);
  segment.p_filesz = static_cast<decltype(segment.p_filesz)>(notes.size());
  segment.p_align = options.alignment;
  Section section{};
  section.sh_type = SHT_NOTE;
  section.sh_offset = static_cast<decltype(section.sh_offset)>(notes_at);
  section.sh_size = static_cast<decltype(section.sh_size)>(notes.size());
  section.sh_addralign = options.alignment;

  std::vector<uint8_t> image(notes_at + notes.size());
  std::memcpy(image.data(), &file, sizeof(file));
  std::memcpy(image.data() + sizeof(file), &segment, sizeof(segment));
  std::memcpy(image.data() + sizeof(file) + sizeof(segment), &section, sizeof(section));
  std::memcpy(image.data() + notes_at, notes.data(), notes.size());
  return image;
}

inline std::vector<uint8_t> SmallElf64(const SmallElfOptions& options) {
  return SmallElf<Elf64_Ehdr, Elf64_Phdr, Elf64_Shdr>(ELFCLASS64, options);
}
inline std::vector<uint8_t> SmallElf32(const SmallElfOptions& options) {
  return SmallElf<Elf32_Ehdr, Elf32_Phdr, Elf32_Shdr>(ELFCLASS32, options);
}

}  // namespace mempulse
