#include "collectors/targets/elf_build_id.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace mempulse {
namespace {

constexpr size_t kSegmentLimit = 512;
constexpr size_t kSectionLimit = 4096;
constexpr uint64_t kNoteAreaLimit = 64 << 10;
constexpr size_t kBuildIdLimit = 64;
#ifdef ABSL_IS_LITTLE_ENDIAN
constexpr uint8_t kOwnByteOrder = ELFDATA2LSB;
#else
constexpr uint8_t kOwnByteOrder = ELFDATA2MSB;
#endif

struct Elf32Layout {
  using File = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Section = Elf32_Shdr;
};
struct Elf64Layout {
  using File = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Section = Elf64_Shdr;
};

struct NoteArea {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t alignment = 0;
};

template <typename T>
bool ReadValue(ElfBytes* elf, uint64_t offset, T* value) {
  std::array<uint8_t, sizeof(T)> bytes;
  if (!elf->ReadAt(offset, absl::MakeSpan(bytes))) return false;
  std::memcpy(value, bytes.data(), sizeof(T));
  return true;
}

size_t RoundUp(size_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

// All sizes are 32 bits wide and added in 64, so nothing overflows.
std::string BuildIdInNotes(absl::Span<const uint8_t> notes, uint64_t alignment) {
  const size_t step = alignment == 8 ? 8 : 4;
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;  // the same in both classes
    std::memcpy(&header, notes.data(), sizeof(header));
    const size_t content = RoundUp(sizeof(header) + header.n_namesz, step);
    const size_t end = content + header.n_descsz;
    if (end > notes.size()) return "";
    const absl::string_view name(reinterpret_cast<const char*>(notes.data()) + sizeof(header),
                                 header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && name == absl::string_view("GNU\0", 4) && header.n_descsz > 0 &&
        header.n_descsz <= kBuildIdLimit) {
      return absl::BytesToHexString(
          absl::string_view(reinterpret_cast<const char*>(notes.data()) + content, header.n_descsz));
    }
    notes.remove_prefix(std::min(RoundUp(end, step), notes.size()));
  }
  return "";
}

class BuildIdSearch {
 public:
  explicit BuildIdSearch(ElfBytes* elf) : elf_(elf) {}

  template <typename Layout>
  absl::StatusOr<std::string> Run() {
    typename Layout::File file;
    if (!ReadValue(elf_, 0, &file)) return absl::InvalidArgumentError("ELF header is cut off");
    std::string id = InTable<typename Layout::Segment>(file.e_phoff, file.e_phentsize,
                                                       std::min<size_t>(file.e_phnum, kSegmentLimit));
    if (id.empty()) {
      id = InTable<typename Layout::Section>(file.e_shoff, file.e_shentsize,
                                             std::min<size_t>(file.e_shnum, kSectionLimit));
    }
    if (!id.empty()) return id;
    if (broken_) return absl::InvalidArgumentError("ELF headers or notes lie outside of the file");
    return absl::NotFoundError("ELF file has no build id");
  }

 private:
  static bool AsNotes(const Elf32_Phdr& h, NoteArea* area) { return AsNoteSegment(h, area); }
  static bool AsNotes(const Elf64_Phdr& h, NoteArea* area) { return AsNoteSegment(h, area); }
  static bool AsNotes(const Elf32_Shdr& h, NoteArea* area) { return AsNoteSection(h, area); }
  static bool AsNotes(const Elf64_Shdr& h, NoteArea* area) { return AsNoteSection(h, area); }

  template <typename Header>
  static bool AsNoteSegment(const Header& header, NoteArea* area) {
    *area = {header.p_offset, header.p_filesz, header.p_align};
    return header.p_type == PT_NOTE;
  }
  template <typename Header>
  static bool AsNoteSection(const Header& header, NoteArea* area) {
    *area = {header.sh_offset, header.sh_size, header.sh_addralign};
    return header.sh_type == SHT_NOTE;
  }

  template <typename Header>
  std::string InTable(uint64_t offset, size_t entry_size, size_t count) {
    if (count == 0) return "";
    if (entry_size != sizeof(Header) || offset > std::numeric_limits<uint64_t>::max() - count * entry_size) {
      broken_ = true;
      return "";
    }
    for (size_t i = 0; i < count; ++i) {
      Header header;
      if (!ReadValue(elf_, offset + i * entry_size, &header)) {
        broken_ = true;
        return "";
      }
      NoteArea area;
      if (!AsNotes(header, &area)) continue;
      std::string id = InArea(area);
      if (!id.empty()) return id;
    }
    return "";
  }

  std::string InArea(const NoteArea& area) {
    std::vector<uint8_t> notes(static_cast<size_t>(std::min(area.size, kNoteAreaLimit)));
    if (!elf_->ReadAt(area.offset, absl::MakeSpan(notes))) {
      broken_ = true;
      return "";
    }
    return BuildIdInNotes(notes, area.alignment);
  }

  ElfBytes* elf_;
  bool broken_ = false;
};

}  // namespace

absl::StatusOr<std::string> FindElfBuildId(ElfBytes* elf) {
  std::array<uint8_t, EI_NIDENT> ident{};
  if (!elf->ReadAt(0, absl::MakeSpan(ident)) || std::memcmp(ident.data(), ELFMAG, SELFMAG) != 0) {
    return absl::InvalidArgumentError("no ELF file");
  }
  if (ident[EI_DATA] != kOwnByteOrder) return absl::InvalidArgumentError("ELF file of the other byte order");
  BuildIdSearch search(elf);
  if (ident[EI_CLASS] == ELFCLASS64) return search.Run<Elf64Layout>();
  if (ident[EI_CLASS] == ELFCLASS32) return search.Run<Elf32Layout>();
  return absl::InvalidArgumentError("ELF file of an unknown class");
}

}  // namespace mempulse
